import type { DeliveryFilter, DeliveryJson } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { oneOf, time, wholeNumber } from "../../options.ts";
import type { Row } from "../../output/printer.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

const states = ["waiting", "delivered", "failed", "rate_limited", "withheld"] as const;
type Options = OrganizationOption & {
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
    .description("list the deliveries of a webhook, the newest first")
    .argument("<id>", "of the webhook")
    .option("--limit <number>", "how many", wholeNumber, 20)
    .option("--state <state>", `those that are ${states.join(", ")}`, oneOf(states))
    .option("--repo <name>", "those of a repository, owner/name")
    .option("--since <time>", "those made since a time, or 2h ago", time)
    .option("--until <time>", "those made before a time", time)
    .option("-f, --follow", "go on with what happens from now on, until Ctrl-C");
  withOrganization(command).action(act(terminal, activity));
}

async function activity(at: Context, options: Options, id: string): Promise<void> {
  const { organization, limit, follow, ...filter } = options;
  const client = await at.client();
  const whose = { organization, signal: at.signal };
  if (follow) return followActivity(at, id, options).catch(untilInterrupted(at));
  const found: DeliveryJson[] = [];
  for await (const delivery of client.webhooks.deliveries(id, filterOf(filter, Math.min(limit, 100)), whose)) {
    found.push(delivery);
    if (found.length === limit) break;
  }
  at.print.list(found.map(deliveryRow), { items: found });
}

/** Ctrl-C is how it is meant to end. */
const untilInterrupted =
  ({ signal }: Context) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error;
  };

/** The oldest first, since it goes on at the end. */
async function followActivity(at: Context, id: string, { organization, limit, follow: _, ...filter }: Options): Promise<void> {
  const client = await at.client();
  const whose = { organization, signal: at.signal };
  const page = await client.webhooks.deliveryPage(id, filterOf(filter, Math.min(limit, 100)), whose);
  const print = (delivery: DeliveryJson) => at.print.row(deliveryRow(delivery), { item: delivery });
  page.deliveries.reverse().forEach(print);
  for await (const event of client.webhooks.live(id, { ...whose, tail: page.tail })) {
    if (event.kind === "reset") at.print.note("More happened than is shown. Run it again for the list.");
    else if (isWanted(event.delivery, filter)) print(event.delivery);
  }
}

function filterOf({ state, repo, since, until }: Partial<Options>, limit: number): DeliveryFilter {
  return { limit, ...(state && { state }), ...(repo && { repo }), ...(since && { since }), ...(until && { until }) };
}

const isWanted = (delivery: DeliveryJson, { state, repo }: Partial<Options>): boolean =>
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
