import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addDisableCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks.command("disable").description("disable a webhook; it is kept").argument("<id>", "of the webhook");
  withOrganization(command).action(act(terminal, disable));
}

async function disable(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  const webhook = await (await at.client()).webhooks.disable(id, { organization, signal: at.signal });
  at.print.done("Webhook disabled", { id: webhook.id });
}
