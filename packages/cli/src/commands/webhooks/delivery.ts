import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addDeliveryCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("delivery")
    .description("show a delivery: what was sent, and each attempt")
    .argument("<id>", "of the webhook")
    .argument("<delivery>", "its id, as activity lists it");
  withOrganization(command).action(act(terminal, delivery));
}

async function delivery(at: Context, { organization }: OrganizationOption, id: string, deliveryId: string): Promise<void> {
  at.print.record(await (await at.client()).webhooks.delivery(id, deliveryId, { organization, signal: at.signal }));
}
