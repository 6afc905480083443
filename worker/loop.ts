import { claimRows, LEASE_SECONDS, type LeasedTable, renewClaims } from "#core/leases/leased-table.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";

/** One kind of work: rows of a table, each handled by one call. */
export type Work<Row extends { id: string }> = {
  table: LeasedTable;
  /** NOTIFY channel on which new rows are announced. */
  channel: string;
  /** Rows handled at the same time. */
  concurrency: number;
  /** Handles one row and records its outcome under the claim. If it throws, the row will be claimed again. */
  run(row: Row, claimId: string): Promise<void>;
};

export type Loop = {
  /** Claims no more rows, and returns once those under way are recorded. */
  stop(): Promise<void>;
};

// Rows due at a later time are not announced, and an announcement may be missed.
const POLL_MS = 2_000;
const HEARTBEAT_MS = (LEASE_SECONDS / 3) * 1_000;
const BATCH_MAX = 64;

/** Claims, runs and records until it is stopped. */
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
      const timer = setTimeout(rested, POLL_MS);
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
        log().error({ err: error, table: work.table.name, id: row.id }, "work failed; its claim runs out"),
      )
      .finally(() => {
        underWay.delete(running);
        announce();
      });
    underWay.set(running, claimId);
  }

  /** Whether there may be more to claim at once. */
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
      isAnnounced = false;
      try {
        if (await claim()) continue;
      } catch (error) {
        log().warn({ err: error, table: work.table.name }, "cannot claim work; trying again");
      }
      await rest();
    }
  }

  const heartbeat = setInterval(() => {
    if (underWay.size === 0) return;
    renewClaims(work.table, [...new Set(underWay.values())]).catch((error: unknown) =>
      log().warn({ err: error, table: work.table.name }, "cannot renew claims"),
    );
  }, HEARTBEAT_MS);

  await listen(work.channel, announce);
  const cycling = cycle();
  return {
    async stop() {
      isStopping = true;
      announce();
      await cycling;
      await Promise.all(underWay.keys());
      clearInterval(heartbeat);
    },
  };
}
