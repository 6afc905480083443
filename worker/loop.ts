import { setTimeout as delay } from "node:timers/promises";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { claimRows, hasDue, LEASE_SECONDS, type LeasedTable, renewClaims } from "#core/postgres/leased-table.ts";

export type Work<Row extends { id: string }> = {
  table: LeasedTable;
  channel: string;
  concurrency: number;
  /** Records the outcome under the claim. If the function throws, the row will be claimed again. */
  run(row: Row, claimId: string): Promise<void>;
};

export type Loop = {
  stop(): Promise<void>;
};

// The loop also polls, because rows that are due later are not announced, and an announcement may be missed.
export const POLL_MS = 2_000;
const RENEW_MS = (LEASE_SECONDS / 3) * 1_000;
const BATCH_MAX = 64;

export async function startLoop<Row extends { id: string }>(work: Work<Row>): Promise<Loop> {
  const underWay = new Map<Promise<void>, string>();
  let isStopping = false;
  let isAnnounced = false;
  let wakeUp: () => void = () => undefined;

  function announce(): void {
    isAnnounced = true;
    wakeUp();
  }

  async function rest(): Promise<void> {
    if (isAnnounced) return;
    await new Promise<void>((rested) => {
      // All loops of the process wake at the same time, so that one statement asks for all of them (`hasDue`).
      const timer = setTimeout(rested, POLL_MS - (performance.now() % POLL_MS));
      wakeUp = () => {
        clearTimeout(timer);
        rested();
      };
    });
  }

  function start(row: Row, claimId: string): void {
    const running: Promise<void> = work
      .run(row, claimId)
      .catch((error: unknown) =>
        log().error({ err: error, table: work.table.name, id: row.id }, "work failed; its claim will expire"),
      )
      .finally(() => {
        underWay.delete(running);
        announce();
      });
    underWay.set(running, claimId);
  }

  async function claim(): Promise<boolean> {
    const free = work.concurrency - underWay.size;
    if (free <= 0) return false;
    const limit = Math.min(free, BATCH_MAX);
    const { claimId, rows } = await claimRows<Row>(work.table, limit, free);
    for (const row of rows) start(row, claimId);
    return rows.length === limit;
  }

  async function cycle(): Promise<void> {
    while (!isStopping) {
      const mayClaim = isAnnounced;
      isAnnounced = false;
      try {
        if ((mayClaim || (await hasDue(work.table))) && (await claim())) continue;
      } catch (error) {
        log().warn({ err: error, table: work.table.name }, "cannot claim work; trying again");
      }
      await rest();
    }
  }

  const renewal = setInterval(() => {
    if (underWay.size === 0) return;
    renewClaims(work.table, [...new Set(underWay.values())]).catch((error: unknown) =>
      log().warn({ err: error, table: work.table.name }, "cannot renew claims"),
    );
  }, RENEW_MS);

  await listen(work.channel, announce);
  const cycling = cycle();
  return {
    async stop() {
      isStopping = true;
      announce();
      await cycling;
      await Promise.all(underWay.keys());
      clearInterval(renewal);
    },
  };
}

/** Each worker does this work. `startLoop` is for rows that workers share. */
type Rounds = {
  what: string;
  everyMs: number;
  firstMs?: number;
  /** The pauses vary by a tenth, so that workers do not query at the same moment. */
  isSpread?: boolean;
  channel?: string;
  /** @returns `true` if there may be more to do at once */
  work: (stopping: AbortSignal) => Promise<unknown>;
};

const RETRY_MS = 1_000;

export async function startRounds({ what, everyMs, firstMs = 0, isSpread = false, channel, work }: Rounds): Promise<Loop> {
  const stopping = new AbortController();
  let announced = new AbortController();

  async function pause(ms: number, ...until: AbortSignal[]): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, ...until]);
    await delay(isSpread ? ms * (0.9 + Math.random() * 0.2) : ms, undefined, { signal }).catch(() => undefined);
  }

  async function cycle(): Promise<void> {
    if (firstMs > 0) await pause(firstMs);
    for (let failures = 0; !stopping.signal.aborted; ) {
      announced = new AbortController();
      try {
        const isMore = (await work(stopping.signal)) === true;
        failures = 0;
        if (!isMore) await pause(everyMs, announced.signal);
      } catch (error) {
        const retryMs = Math.min(everyMs, RETRY_MS * 2 ** failures++);
        log().warn({ err: error, failures, retryMs }, `cannot ${what}; trying again`);
        // Announcements do not shorten this pause, because there may be thousands while the database is overloaded.
        await pause(retryMs);
      }
    }
  }

  if (channel) await listen(channel, () => announced.abort());
  const cycling = cycle();
  return {
    async stop() {
      stopping.abort();
      await cycling;
    },
  };
}
