import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addAppDeleteCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("delete")
    .description("delete an app for good: its people are signed out of it at once")
    .argument("<id>", "of the app")
    .option("-y, --yes", "do not ask");
  withOrganization(command).action(act(terminal, remove));
}

async function remove(at: Context, { organization, yes }: OrganizationOption & { yes?: boolean }, id: string): Promise<void> {
  await at.confirm(`Delete app ${id}, and sign everybody out of it?`, { yes });
  await (await at.client()).apps.delete(id, { organization, signal: at.signal });
  at.print.done("App deleted", { id });
}
