import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addEnableCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("enable")
    .description("enable a webhook: what was held is sent")
    .argument("<id>", "of the webhook");
  withOrganization(command).action(act(terminal, enable));
}

async function enable(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  const webhook = await (await at.client()).webhooks.enable(id, { organization, signal: at.signal });
  at.print.done("Webhook enabled", { id: webhook.id });
}
