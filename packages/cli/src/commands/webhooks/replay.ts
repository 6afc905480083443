import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { BadInput, Refused } from "../../errors.ts";
import { time } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { printAnswer } from "./print-answer.ts";

type Options = OrganizationOption & { failedSince?: string; until?: string };

export function addReplayCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("replay")
    .description("send a delivery again, or all that have failed since a time")
    .argument("<id>", "of the webhook")
    .argument("[delivery]", "its id, as activity lists it")
    .option("--failed-since <time>", "all that have failed since a time, or 2h ago", time)
    .option("--until <time>", "with --failed-since: only those made before a time", time);
  withOrganization(command).action(act(terminal, replay));
}

async function replay(at: Context, options: Options, id: string, delivery: string | undefined): Promise<void> {
  if ((delivery === undefined) === (options.failedSince === undefined)) {
    throw new BadInput("Name a delivery, or say --failed-since when.");
  }
  if (delivery === undefined) return replayFailed(at, options, id);
  const spinner = at.spin("Sending it again");
  const client = await at.client();
  const answer = await client.webhooks
    .replay(id, delivery, { organization: options.organization, signal: at.signal })
    .finally(() => spinner.stop());
  printAnswer(at, "Delivery sent again", answer);
}

/** Ctrl-C stops looking at it, and not the replay itself, which is on record at the service. */
async function replayFailed(at: Context, { organization, failedSince = "", until }: Options, id: string): Promise<void> {
  const client = await at.client();
  const spinner = at.spin("Sending what has failed again");
  const range = { since: failedSince, ...(until !== undefined && { until }), everyMs: 500 };
  try {
    for await (const now of client.webhooks.replayFailed(id, range, { organization, signal: at.signal })) {
      const { state, total, queued, delivered, failed } = now;
      spinner.update(`${delivered + failed} of ${total}: ${delivered} delivered, ${failed} failed`);
      if (state === "running") continue;
      spinner.stop();
      at.print.done(state === "cancelled" ? "Replay cancelled" : "Replay finished", {
        id: now.id,
        total,
        queued,
        delivered,
        failed,
      });
      if (failed > 0)
        throw new Refused(`${failed} of ${total} failed again. keyhook webhooks activity ${id} --state failed lists them.`);
    }
  } finally {
    spinner.stop();
  }
}
