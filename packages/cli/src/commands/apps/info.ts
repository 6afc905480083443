import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addAppInfoCommand(apps: Command, terminal: Terminal): void {
  const command = apps.command("info").description("show all of one app").argument("<id>", "of the app");
  withOrganization(command).action(act(terminal, info));
}

async function info(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  at.print.record(await (await at.client()).apps.get(id, { organization, signal: at.signal }));
}
