import { pool } from "../../db.ts";
import { readRepo } from "../../hub/repos/read-repos.ts";
import type { NoRunner } from "../../jobs/runners/find-runner.ts";
import type { Runner } from "../../jobs/runners/runner.ts";
import { log } from "../../log.ts";
import type { Gateway } from "../gateway/start-gateway.ts";
import { readSpaceRuntime, SPACE_PARTY } from "../space-runtime.ts";
import { SLEEP_AFTER_SECONDS } from "../stages.ts";
import { chooseToEnd, makeRoom, type Occupant, type SlotDemand } from "./make-room.ts";
import { countLosses, type End, recordEnd } from "./record-run.ts";
import { RESTARTS_MAX, runSpace, type StopReason } from "./run-space.ts";

/** The delay doubles with each failure, because the pushed content may be the reason (S137). */
const FAILED_DELAY_SECONDS = 10;
const NOT_STARTED =
  "The app could not be started; the service will try again. The operator can find the reason in the service's log.";

const LOST = "The service's worker stopped each time this Space ran. The operator can find the reason in the service's log.";

type Running = {
  claimId: string;
  generation: number;
  stopping: AbortController;
  ended: Promise<void>;
  startedAt: number;
  isWoken: boolean;
};
type Watched = {
  repoId: string;
  party: string;
  claimId: string | null;
  generation: number;
  isWanted: boolean;
  isIdle: boolean;
  isDisabled: boolean;
};

export class SpaceHost {
  readonly #running = new Map<string, Running>();
  readonly #findRunner: () => Promise<Runner | NoRunner>;
  readonly #gateway: Gateway;
  #isLeaving = false;

  constructor(findRunner: () => Promise<Runner | NoRunner>, gateway: Gateway) {
    this.#findRunner = findRunner;
    this.#gateway = gateway;
  }

  get size(): number {
    return this.#running.size;
  }

  has(repoId: string): boolean {
    return this.#running.has(repoId);
  }

  async run(repoId: string, claimId: string): Promise<void> {
    const [row, repo] = [await readSpaceRuntime(repoId), await readRepo(repoId)];
    if (!row) return;
    const run = { repoId, claimId, generation: row.generation, restarts: row.restarts, party: row.party };
    // The repository is not found while its owner is disabled. Afterwards, a request wakes the Space.
    if (!repo) return recordEnd(run, { kind: "rest", stage: "SLEEPING" });
    if ((await countLosses(run)) > RESTARTS_MAX) {
      log().error({ repoId }, "gave up on a Space: each worker that ran it was lost");
      return recordEnd(run, { kind: "rest", stage: "RUNTIME_ERROR", message: LOST });
    }
    await this.#endPrevious(repoId);
    const stopping = new AbortController();
    const { promise: ended, resolve: hasEnded } = Promise.withResolvers<void>();
    this.#running.set(repoId, {
      ...{ claimId, generation: row.generation, stopping, ended, startedAt: Date.now() },
      isWoken: row.isAwaited,
    });
    if (this.#isLeaving) stopping.abort("leaving" satisfies StopReason);
    let end: End | undefined = retryLater(row.restarts);
    try {
      const hosting = { runner: await this.#findRunner(), gateway: this.#gateway, signal: stopping.signal };
      end = await runSpace(repo, run, hosting);
    } catch (error) {
      log().error({ err: error, repoId }, "a Space could not be run; trying again");
    } finally {
      this.#running.delete(repoId);
      hasEnded();
      // Without an end, only the claim is released.
      await recordEnd(run, end ?? { kind: "again", delaySeconds: 0 });
    }
  }

  /** A claim can expire before its run has ended. Without this, a Space could have several runs, some unwatched (S132). */
  async #endPrevious(repoId: string): Promise<void> {
    for (let previous = this.#running.get(repoId); previous; previous = this.#running.get(repoId)) {
      previous.stopping.abort("superseded" satisfies StopReason);
      await previous.ended;
    }
  }

  async check(capacity: number): Promise<void> {
    const ids = [...this.#running.keys()];
    if (ids.length === 0) return;
    const { rows } = await pool().query<Watched>(
      `SELECT repo_id AS "repoId", ${SPACE_PARTY} AS party, claim_id AS "claimId", generation, is_wanted AS "isWanted", u.disabled_at IS NOT NULL AS "isDisabled",
              stage = 'RUNNING' AND last_request_at < now() - make_interval(secs => coalesce(sleep_seconds, $2)) AS "isIdle"
         FROM space_runtime JOIN repo r ON r.id = repo_id
         LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
        WHERE repo_id = ANY ($1)`,
      [ids, SLEEP_AFTER_SECONDS],
    );
    const now = new Map(rows.map((row) => [row.repoId, row]));
    for (const [repoId, running] of this.#running) {
      if (!ids.includes(repoId)) continue;
      const reason = stopReason(now.get(repoId), running, this.#gateway.idleSince(repoId) !== undefined);
      if (reason) running.stopping.abort(reason);
    }
    // A run that is already stopping frees a slot.
    if (this.#running.size < capacity || [...this.#running.values()].some(({ stopping }) => stopping.signal.aborted)) return;
    const parties = new Map(rows.map(({ repoId, party }) => [repoId, party]));
    const chosen = await makeRoom((demand) => chooseToEnd(demand, this.#occupants(demand, parties), capacity));
    if (chosen) this.#running.get(chosen.repoId)?.stopping.abort("displaced" satisfies StopReason);
  }

  leave(): void {
    this.#isLeaving = true;
    for (const { stopping } of this.#running.values()) stopping.abort("leaving" satisfies StopReason);
  }

  #occupants({ slots }: SlotDemand, parties: ReadonlyMap<string, string>): Occupant[] {
    return [...this.#running].map(([repoId, { claimId, generation, startedAt, isWoken }]) => {
      const held = slots.get(parties.get(repoId) ?? "") ?? 0;
      return { repoId, claimId, generation, startedAt, isWoken, held, uses: this.#gateway.usesOf(repoId) };
    });
  }
}

function retryLater(restarts: number): End {
  const count = Math.min(restarts, RESTARTS_MAX);
  const delaySeconds = FAILED_DELAY_SECONDS * 2 ** count;
  return { kind: "again", delaySeconds, restarts: Math.min(count + 1, RESTARTS_MAX), message: NOT_STARTED };
}

function stopReason(row: Watched | undefined, running: Running, isUnused: boolean): StopReason | undefined {
  if (!row || row.claimId !== running.claimId || row.generation !== running.generation || !row.isWanted) return "superseded";
  return row.isDisabled || (row.isIdle && isUnused) ? "idle" : undefined;
}
