import { type TestKind, testKinds } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { oneOf } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { printAnswer } from "./print-answer.ts";

export function addTestCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("test")
    .description("send a made-up event to a webhook, and wait for the answer")
    .argument("<id>", "of the webhook")
    .option("--event <kind>", `one of ${testKinds.join(", ")}`, oneOf(testKinds));
  withOrganization(command).action(act(terminal, test));
}

async function test(at: Context, { organization, event }: OrganizationOption & { event?: TestKind }, id: string): Promise<void> {
  const spinner = at.spin("Waiting for the target's answer");
  const client = await at.client();
  const answer = await client.webhooks.sendTest(id, event, { organization, signal: at.signal }).finally(() => spinner.stop());
  printAnswer(at, "Test sent", answer);
}
