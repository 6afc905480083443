import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addDeleteCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("delete")
    .description("delete a webhook for good")
    .argument("<id>", "of the webhook")
    .option("-y, --yes", "do not ask");
  withOrganization(command).action(act(terminal, remove));
}

async function remove(at: Context, { organization, yes }: OrganizationOption & { yes?: boolean }, id: string): Promise<void> {
  await at.confirm(`Delete webhook ${id}, with its activity?`, { yes });
  await (await at.client()).webhooks.delete(id, { organization, signal: at.signal });
  at.print.done("Webhook deleted", { id });
}
