import { type DeliveryFilter, type DeliveryJson, type ReplayAnswerJson, type TestKind, testKinds } from "@keyhook/sdk";
import type { Command } from "commander";
import { actionOf, type Context } from "../../context.ts";
import { BadInput, Refused } from "../../errors.ts";
import { type OrganizationOption, oneOf, time, wholeNumber, withOrganization } from "../../options.ts";
import type { Row } from "../../output/printer.ts";
import type { Terminal } from "../../terminal.ts";

const states = ["waiting", "delivered", "failed", "rate_limited", "withheld"] as const;
type ActivityOptions = OrganizationOption & {
  limit: number;
  follow?: boolean;
  state?: (typeof states)[number];
  repo?: string;
  since?: string;
  until?: string;
};

export function addActivityCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("activity")
    .description("list the deliveries of a webhook, newest first")
    .argument("<id>", "the webhook's ID")
    .option("--limit <number>", "the maximum number of rows", wholeNumber, 20)
    .option("--state <state>", `only deliveries in a state: ${states.join(", ")}`, oneOf(states))
    .option("--repo <name>", "only deliveries about a repository, owner/name")
    .option("--since <time>", "only deliveries since a time, or from a recent period such as 2h", time)
    .option("--until <time>", "only deliveries before a time", time)
    .option("-f, --follow", "after the list, print new deliveries until Ctrl-C");
  withOrganization(command).action(actionOf(terminal, activity));
}

async function activity(at: Context, options: ActivityOptions, id: string): Promise<void> {
  const { organization, limit, follow, ...filter } = options;
  const client = await at.client();
  const request = { organization, signal: at.signal };
  if (follow) return followActivity(at, id, options).catch(untilInterrupted(at));
  const found: DeliveryJson[] = [];
  for await (const delivery of client.webhooks.deliveries(id, filterOf(filter, Math.min(limit, 100)), request)) {
    found.push(delivery);
    if (found.length === limit) break;
  }
  at.print.list(found.map(deliveryRow), { items: found });
}

/** Ctrl-C is the normal end of `--follow`, not an error. */
const untilInterrupted =
  ({ signal }: Context) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error;
  };

async function followActivity(
  at: Context,
  id: string,
  { organization, limit, follow: _, ...filter }: ActivityOptions,
): Promise<void> {
  const client = await at.client();
  const request = { organization, signal: at.signal };
  const page = await client.webhooks.deliveryPage(id, filterOf(filter, Math.min(limit, 100)), request);
  const print = (delivery: DeliveryJson) => at.print.row(deliveryRow(delivery), { item: delivery });
  page.deliveries.reverse().forEach(print);
  for await (const event of client.webhooks.live(id, { ...request, tail: page.tail })) {
    if (event.kind === "reset") at.print.note("Some changes were skipped. Run the command again for the whole list.");
    else if (isWanted(event.delivery, filter)) print(event.delivery);
  }
}

function filterOf({ state, repo, since, until }: Partial<ActivityOptions>, limit: number): DeliveryFilter {
  return { limit, ...(state && { state }), ...(repo && { repo }), ...(since && { since }), ...(until && { until }) };
}

const isWanted = (delivery: DeliveryJson, { state, repo }: Partial<ActivityOptions>): boolean =>
  (state === undefined || delivery.state === state) && (repo === undefined || delivery.repo.name === repo);

function deliveryRow(delivery: DeliveryJson): Row {
  const { id, createdAt, kind, event, repo, state, attempts, lastStatus, lastDurationMs } = delivery;
  return {
    id,
    created: createdAt,
    event: `${kind === "test" ? "test " : ""}${event.scope}.${event.action}`,
    repo: `${repo.type}:${repo.name}`,
    state,
    attempts,
    status: lastStatus,
    ms: lastDurationMs,
  };
}

export function addDeliveryCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("delivery")
    .description("show a delivery: its request and its latest twenty attempts")
    .argument("<id>", "the webhook's ID")
    .argument("<delivery>", "the delivery's ID, from keyhook webhooks activity");
  withOrganization(command).action(actionOf(terminal, delivery));
}

async function delivery(at: Context, { organization }: OrganizationOption, id: string, deliveryId: string): Promise<void> {
  at.print.record(await (await at.client()).webhooks.delivery(id, deliveryId, { organization, signal: at.signal }));
}

type ReplayOptions = OrganizationOption & { failedSince?: string; until?: string };

export function addReplayCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("replay")
    .description("send a delivery again, or all that failed since a time")
    .argument("<id>", "the webhook's ID")
    .argument("[delivery]", "the delivery's ID, from keyhook webhooks activity")
    .option("--failed-since <time>", "all that failed since a time, or in a recent period such as 2h", time)
    .option("--until <time>", "with --failed-since: only deliveries before a time", time);
  withOrganization(command).action(actionOf(terminal, replay));
}

async function replay(at: Context, options: ReplayOptions, id: string, delivery: string | undefined): Promise<void> {
  if ((delivery === undefined) === (options.failedSince === undefined)) {
    throw new BadInput("Specify either a delivery or --failed-since.");
  }
  if (delivery === undefined) return replayFailed(at, options, id);
  const spinner = at.spin("Sending the delivery again");
  const client = await at.client();
  const answer = await client.webhooks
    .replay(id, delivery, { organization: options.organization, signal: at.signal })
    .finally(() => spinner.stop());
  printAnswer(at, "Delivery sent again", answer);
}

/** Ctrl-C stops only the display, because the service has stored the replay. */
async function replayFailed(at: Context, { organization, failedSince = "", until }: ReplayOptions, id: string): Promise<void> {
  const client = await at.client();
  const spinner = at.spin("Sending the failed deliveries again");
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
        throw new Refused(`${failed} of ${total} failed again. To list them: keyhook webhooks activity ${id} --state failed`);
    }
  } finally {
    spinner.stop();
  }
}

export function addTestCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("test")
    .description("send a sample event to a webhook and wait for the result")
    .argument("<id>", "the webhook's ID")
    .option("--event <kind>", `one of ${testKinds.join(", ")}`, oneOf(testKinds));
  withOrganization(command).action(actionOf(terminal, test));
}

async function test(at: Context, { organization, event }: OrganizationOption & { event?: TestKind }, id: string): Promise<void> {
  const spinner = at.spin("Waiting for the result");
  const client = await at.client();
  const answer = await client.webhooks.sendTest(id, event, { organization, signal: at.signal }).finally(() => spinner.stop());
  printAnswer(at, "Test sent", answer);
}

/** Throws `Refused` if the attempt failed, so that a script sees an exit code of 1. */
function printAnswer({ print }: Context, message: string, answer: ReplayAnswerJson): void {
  const { delivery, outcome, status, durationMs, reason } = answer;
  print.done(message, { delivery, outcome, status, ms: durationMs });
  if (outcome === "delivered") return;
  throw new Refused(`The delivery failed: ${reason ?? `the target responded with status ${status}`}.`);
}
