import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Receiver } from "./receiver.ts";
import type { ChaosService } from "./service.ts";

export type Outcome = {
  sent: number;
  delivered: number;
  lost: number;
  duplicates: number;
  /** The time from the last fault until nothing was overdue by more than a second. */
  recoverySeconds?: number;
  inFlight?: number;
  note?: string;
  faults: string[];
};

export function rowOf(
  name: string,
  { sent, delivered, lost, duplicates, inFlight, recoverySeconds, note, faults }: Outcome,
): string {
  const recovery = recoverySeconds === undefined ? "–" : `${recoverySeconds} s`;
  const words = [faults.length > 0 ? `**failed: ${faults.join("; ")}**` : "passed", ...(note ? [note] : [])].join("; ");
  return `| ${[name, sent, delivered, lost, duplicates, inFlight ?? "–", recovery, words].join(" | ")} |`;
}

export async function ask<Row extends pg.QueryResultRow>(
  service: ChaosService,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce<Row>(service, text, values);
    } catch (error) {
      if (tries === 20) throw error;
      await delay(500);
    }
  }
}

async function askOnce<Row extends pg.QueryResultRow>(service: ChaosService, text: string, values: unknown[]): Promise<Row[]> {
  const connectionString = service.databaseUrl();
  if (!connectionString) throw new Error("the database is down");
  const client = new pg.Client({ connectionString, application_name: "chaos", connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function claimedNow(service: ChaosService): Promise<number> {
  const [row] = await ask<{ count: number }>(
    service,
    `select ((select count(*) from delivery_queue where claimed_until > now())
      + (select count(*) from event where fanned_out_at is null and claimed_until > now()))::int as count`,
  );
  return row?.count ?? 0;
}

export function watchBacklog(service: ChaosService, webhookIds: string[]) {
  let isWatching = true;
  let lastOverdueAt = 0;
  const watching = (async () => {
    while (isWatching) {
      if (!(await isUpToDate(service, webhookIds))) lastOverdueAt = Date.now();
      await delay(200);
    }
  })();
  return {
    /** @returns the seconds from `since` until the last time that something was overdue */
    async stop(since: number): Promise<number> {
      isWatching = false;
      await watching;
      return Math.max(0, Math.round((lastOverdueAt - since) / 100) / 10);
    },
  };
}

async function isUpToDate(service: ChaosService, webhookIds: string[]): Promise<boolean> {
  try {
    const [row] = await askOnce<{ isOverdue: boolean }>(
      service,
      `select exists (select from event where fanned_out_at is null and created_at < now() - interval '1 second')
          or exists (select from delivery_queue where webhook_id = any ($1) and due_at < now() - interval '1 second') as "isOverdue"`,
      [webhookIds],
    );
    return row?.isOverdue === false;
  } catch {
    return false;
  }
}

export async function settle(service: ChaosService, webhookIds: string[], seconds: number): Promise<boolean> {
  for (const deadline = Date.now() + seconds * 1_000; Date.now() < deadline; await delay(200)) {
    const [row] = await askOnce<{ count: number }>(
      service,
      `select ((select count(*) from event where fanned_out_at is null)
        + (select count(*) from delivery_queue where webhook_id = any ($1)))::int as count`,
      [webhookIds],
    ).catch(() => []);
    if (row?.count === 0) return true;
  }
  return false;
}

export async function tally(
  service: ChaosService,
  webhookId: string,
  eventIds: ReadonlySet<string>,
  receiver: Receiver,
): Promise<Pick<Outcome, "sent" | "delivered" | "lost" | "duplicates">> {
  const rows = await ask<{ id: string; eventId: string; state: string }>(
    service,
    `select id, event_id as "eventId", state from delivery where webhook_id = $1`,
    [webhookId],
  );
  const arrivals = Map.groupBy(receiver.arrivals, ({ id }) => id);
  const reached = new Set(rows.filter(({ id }) => arrivals.has(id)).map(({ eventId }) => eventId));
  const delivered = [...eventIds].filter((id) => reached.has(id)).length;
  const repeated = [...arrivals.values()].reduce((sum, each) => sum + each.length - 1, 0);
  const doubled = rows.length - new Set(rows.map(({ eventId }) => eventId)).size;
  return { sent: eventIds.size, delivered, lost: eventIds.size - delivered, duplicates: repeated + doubled };
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns milliseconds, only for events that arrived. */
export async function latencies(
  service: ChaosService,
  webhookId: string,
  recordedAt: ReadonlyMap<string, number>,
  receiver: Receiver,
): Promise<number[]> {
  const rows = await ask<{ id: string; eventId: string }>(
    service,
    `select id, event_id as "eventId" from delivery where webhook_id = $1`,
    [webhookId],
  );
  const eventOf = new Map(rows.map(({ id, eventId }) => [id, eventId]));
  return receiver.arrivals.flatMap(({ id, at }) => {
    const from = recordedAt.get(eventOf.get(id) ?? "");
    return from === undefined ? [] : [at - from];
  });
}
