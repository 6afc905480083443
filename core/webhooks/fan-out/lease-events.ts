import { createHash, randomUUID } from "node:crypto";
import { eventScopes } from "@keyhook/sdk";
import type pg from "pg";
import { z } from "zod";
import { isDatabaseDown } from "../../database-errors.ts";
import { env } from "../../env.ts";
import { firstIdAt, orderedIdOf } from "../../ids.ts";
import { log } from "../../log.ts";
import { fanOutsSeen } from "../../telemetry.ts";
import { LEASE_SECONDS } from "../delivery/claim-deliveries.ts";
import type { ClaimedDelivery, EventLease, OverLimit } from "../delivery/delivery.ts";
import { eventPool } from "../delivery/delivery-pool.ts";
import { targetHost } from "../target-host.ts";
import { type DisabledReason, lanes } from "../vocabulary.ts";
import { leaseQuery } from "./lease-query.ts";
import { excessBesides, keptOverLimit, overLimit, type Triggers } from "./over-limit.ts";

export const EVENTS_MAX = 64;
const PAGE = 64;

/** A begun event has more watchers than a page, and its first page is done. A fresh event has no deliveries yet. */
export type Part = { part: "fresh" | "begun"; limit: number; page: number };

export const parts: readonly Part[] = [
  { part: "fresh", limit: EVENTS_MAX, page: PAGE },
  { part: "begun", limit: 1, page: EVENTS_MAX * PAGE },
];

export type LeasedEvents = {
  leases: EventLease[];
  /** These deliveries must be sent or queued before the leases expire. */
  deliveries: ClaimedDelivery[];
  over: Map<ClaimedDelivery, OverLimit>;
  isFull: boolean;
};

const lastOwners: Record<Part["part"], string> = { fresh: "", begun: "" };

/** Stores no deliveries. If a worker is killed, another one later gets deliveries with the same IDs (S122, decision 092). */
export async function leaseEvents({ part, limit, page }: Part): Promise<LeasedEvents> {
  const [startedAt, begin] = [new Date(), performance.now()];
  const triggersPerDay = env().WEBHOOK_TRIGGERS_PER_DAY;
  const lease = (ids: string[] | null) =>
    leaseRows((claimId) => leaseQuery({ claimId, part, limit, after: lastOwners[part], page, triggersPerDay, ids }));
  const { rows, undecided, isFull, lastOwner } = await lease(null);
  lastOwners[part] = lastOwner;
  if (undecided.length > 0) {
    // If this fails, the events that were already leased are sent nevertheless.
    const others = await lease(undecided).catch((error: unknown) => {
      log().warn({ err: error }, "cannot lease some events; trying again");
      return { rows: [] as Row[] };
    });
    rows.push(...others.rows);
  }
  const events = [...Map.groupBy(rows, ({ id }) => id).values()].map((watchers) => toEvent(watchers, page));
  await leaveOutRecorded(events.filter(({ isNew }) => !isNew));
  const triggers = events.flatMap(({ triggers }) => triggers);
  const [over, dropped] = [new Map<ClaimedDelivery, OverLimit>(), new Set<ClaimedDelivery>()];
  const ofWebhook = Map.groupBy(triggers, ({ delivery }) => delivery.webhookId);
  // If a webhook has two counts, the later one includes the earlier.
  const counted = new Map(
    rows.flatMap(({ over_limit }) => over_limit ?? []).map(({ webhookId, ...counts }) => [webhookId, counts] as const),
  );
  for (const [webhookId, counts] of counted) {
    const excess = overLimit(ofWebhook.get(webhookId) ?? [], counts, triggersPerDay);
    const others = counts.rateLimited + excessBesides(excess, counts, triggersPerDay);
    const room = Math.max(0, keptOverLimit(triggersPerDay) - others);
    for (const { delivery, hour, isByOutsider } of excess.slice(0, room)) over.set(delivery, { hour, isByOutsider });
    for (const { delivery, hour, isByOutsider } of excess.slice(room)) {
      delivery.lease?.open.delete(delivery.id);
      delivery.lease?.onlyCounted.push({ webhookId, hour, isByOutsider });
      dropped.add(delivery);
    }
  }
  if (events.length > 0 && fanOutsSeen.hasSubscribers) {
    const seen = events.map(({ lease, traceparent }) => ({ id: lease.id, traceparent }));
    fanOutsSeen.publish({ startedAt, milliseconds: performance.now() - begin, events: seen, deliveries: triggers.length });
  }
  const deliveries = triggers.map(({ delivery }) => delivery).filter((delivery) => !dropped.has(delivery));
  // If no event can be leased, the next try must not be at once.
  return { leases: events.map(({ lease }) => lease), deliveries, over, isFull: isFull && events.length > 0 };
}

export async function renewEvents(ids: string[], claimIds: string[]): Promise<void> {
  await eventPool().query(
    `update event set claimed_until = now() + make_interval(secs => $3)
      where id = any ($1) and claim_id = any ($2) and fanned_out_at is null`,
    [ids, claimIds, LEASE_SECONDS],
  );
}

/** Leases whose result never arrived, because the connection was lost. Nobody works on them. */
const unanswered = new Set<string>();

type LeasedRows = {
  rows: Row[];
  /** These due events need the whole condition, `mayReceive`. */
  undecided: string[];
  isFull: boolean;
  lastOwner: string;
};

async function leaseRows(query: (claimId: string) => pg.QueryConfig): Promise<LeasedRows> {
  const lost = [...unanswered];
  if (lost.length > 0) {
    await eventPool()
      .query("update event set claimed_until = now() where fanned_out_at is null and claim_id = any ($1)", [lost])
      .catch((error: unknown) => {
        if (isDatabaseDown(error)) throw error;
        log().warn({ err: error }, "leases that may have been created will expire");
      });
    for (const each of lost) unanswered.delete(each);
  }
  const claimId = randomUUID();
  try {
    const { rows } = await eventPool().query<Row | (Partial<Row> & { id: null })>(query(claimId));
    const leased = rows.filter((row) => row.id !== null).map((row) => ({ ...row, claimId }));
    const [first] = rows;
    return {
      ...{ rows: leased, undecided: first?.undecided ?? [] },
      ...{ isFull: first?.is_full ?? false, lastOwner: first?.last_owner ?? "" },
    };
  } catch (error) {
    unanswered.add(claimId);
    throw error;
  }
}

type Row = {
  claimId: string;
  id: string;
  scope: string;
  action: string;
  is_by_outsider: boolean;
  is_new: boolean;
  counted_in: Date;
  traceparent: string | null;
  payload: string | null;
  webhook_id: string | null;
  owner_id: string;
  url: string | null;
  secret: Buffer | null;
  signing_previously: Buffer | null;
  disabled_reason: DisabledReason | null;
  failing_since: Date | null;
  may_receive: boolean;
  /** Only the first row has the list, because it would be long in each row. */
  over_limit: (Triggers & { webhookId: string; rateLimited: number })[] | null;
  undecided: string[] | null;
  is_full: boolean;
  last_owner: string | null;
};

type Trigger = { delivery: ClaimedDelivery; hour: string; isByOutsider: boolean };
type LeasedEvent = { lease: EventLease; isNew: boolean; traceparent: string | null; triggers: Trigger[] };

function toEvent(rows: Row[], page: number): LeasedEvent {
  const [{ id, claimId, is_new: isNew, scope, traceparent, payload }] = rows as [Row];
  const isPaged = rows.length === page;
  const lease: EventLease = {
    id,
    claimId,
    repoName: "",
    open: new Set(),
    onlyCounted: [],
    cursor: isPaged ? (rows.at(-1)?.webhook_id ?? null) : null,
    error: null,
    isGivenUp: false,
  };
  const receivers = rows.filter((row) => row.may_receive);
  const isKnown = eventScopes.some((each) => each === scope);
  if (receivers.length > 0 || !isKnown) {
    const repoName = repoNameOf(payload ?? "");
    if (!isKnown) lease.error = `its scope is not known: ${scope}`;
    else if (repoName === undefined) lease.error = "its payload does not name its repository";
    // JSON can contain NUL, but text columns cannot.
    else if (repoName.includes("\0")) lease.error = "its repository's name has a NUL character";
    else lease.repoName = repoName;
  }
  if (lease.error !== null) {
    log().error({ eventId: id, reason: lease.error }, "an event cannot be used and is set aside");
    return { lease, isNew, traceparent, triggers: [] };
  }
  const event = { id, payload: payload ?? "", isTest: false, traceparent };
  const triggers = receivers.map((row): Trigger => {
    const delivery = toDelivery(row, lease, event);
    return { delivery, hour: row.counted_in.toISOString(), isByOutsider: row.is_by_outsider };
  });
  for (const { delivery } of triggers) lease.open.add(delivery.id);
  return { lease, isNew, traceparent, triggers };
}

const named = z.object({ repo: z.object({ name: z.string().min(1) }) });

const repoNameOf = (payload: string): string | undefined => named.safeParse(JSON.parse(payload)).data?.repo.name;

function toDelivery(row: Row, lease: EventLease, event: ClaimedDelivery["event"]): ClaimedDelivery {
  const webhookId = row.webhook_id ?? "";
  return {
    id: deliveryId(lease, webhookId, row.counted_in),
    claimId: lease.claimId,
    webhookId,
    ownerId: row.owner_id,
    kind: "first",
    lane: lanes.first,
    host: targetHost(row.url),
    tries: 0,
    replayId: null,
    webhook: {
      url: row.url,
      secret: row.secret,
      previousSecret: row.signing_previously,
      isDisabled: false,
      disabledReason: row.disabled_reason,
      failingSince: row.failing_since,
    },
    event,
    mayRead: true,
    lease,
  };
}

/**
 * The ID is computed, because a first attempt that is repeated after a crash must have the same `webhook-id`. The time part
 * varies by up to a second, because 48 bits are too few for an event with 100,000 watchers.
 */
function deliveryId({ id, cursor }: EventLease, webhookId: string, countedIn: Date): string {
  const hash = createHash("sha256").update(id).update(webhookId).digest();
  const hour = firstIdAt(countedIn);
  const step = Number.parseInt((id > hour ? id : hour).slice(0, 12), 16) + (cursor === null ? 0 : hash.readUInt16BE(6));
  return orderedIdOf(step, hash.toString("hex", 0, 6));
}

/** After a crash, some deliveries of an event may already be recorded. */
async function leaveOutRecorded(events: readonly LeasedEvent[]): Promise<void> {
  const ids = events.flatMap(({ lease }) => [...lease.open]);
  if (ids.length === 0) return;
  const { rows } = await eventPool().query<{ id: string }>("select id from delivery where id = any ($1)", [ids]);
  const recorded = new Set(rows.map(({ id }) => id));
  for (const event of events) {
    event.triggers = event.triggers.filter(({ delivery }) => !recorded.has(delivery.id));
    event.lease.open = new Set(event.triggers.map(({ delivery }) => delivery.id));
  }
}
