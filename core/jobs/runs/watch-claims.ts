import { pool } from "../../db.ts";
import { LEASE_SECONDS } from "../../leases/leased-table.ts";
import { log } from "../../log.ts";
import { listen } from "../../notifications.ts";
import { JOB_CANCEL_CHANNEL } from "../stages.ts";
import { MAY_NOT_RUN } from "./record-run.ts";

/** A run under way in this process, with callbacks for its watch. */
export type Watched = {
  id: string;
  claimId: string;
  /** It was cancelled, its owner was disabled, or its grant has ended. */
  onCancel(): void;
  /** Another worker may hold it by now, or soon: nothing of it may continue here. */
  onLost(): void;
};

const CHECK_MS = 2_000;
/**
 * Without a response from the database for this long, the lease may be over: the run ends here, before another worker can execute it too.
 */
const FENCE_MS = (LEASE_SECONDS - 5) * 1_000;

const watched = new Map<string, Watched & { heldAt: number }>();
let timer: NodeJS.Timeout | undefined;
let checking: Promise<void> | undefined;

/** Watches this worker's claim of a run while it goes on. @returns a function that ends the watch */
export function watchClaim(run: Watched): () => void {
  watched.set(run.id, { ...run, heldAt: performance.now() });
  void listen(JOB_CANCEL_CHANNEL, check);
  timer ??= setInterval(() => void check(), CHECK_MS);
  // Finds a run that was cancelled just before.
  void check();
  return () => {
    watched.delete(run.id);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function check(): Promise<void> {
  checking ??= checkAll().finally(() => {
    checking = undefined;
  });
  return checking;
}

async function checkAll(): Promise<void> {
  const asked = [...watched.values()];
  if (asked.length === 0) return;
  const askedAt = performance.now();
  try {
    const { rows } = await pool().query<{ id: string; claim_id: string | null; is_cancelled: boolean }>(
      `select id, claim_id, cancel_requested_at is not null or ${MAY_NOT_RUN} as is_cancelled from job_run where id = any ($1)`,
      [asked.map(({ id }) => id)],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const run of asked) {
      const row = found.get(run.id);
      if (row?.claim_id !== run.claimId) run.onLost();
      else if (row.is_cancelled) run.onCancel();
      run.heldAt = askedAt;
    }
  } catch (error) {
    log().warn({ err: error }, "cannot look after runs under way");
    for (const run of asked) if (performance.now() - run.heldAt > FENCE_MS) run.onLost();
  }
}
