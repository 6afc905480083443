import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addInfoCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks.command("info").description("show all of one webhook").argument("<id>", "of the webhook");
  withOrganization(command).action(act(terminal, info));
}

async function info(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  at.print.record(await (await at.client()).webhooks.get(id, { organization, signal: at.signal }));
}
