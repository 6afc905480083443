import { access, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Db, db, pool, retryDeadlocks } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { areDeletionsHeld } from "../../../housekeeping/hold-deletions.ts";
import { log } from "../../../log.ts";
import type { LeasedTable } from "../../../postgres/leased-table.ts";
import { cardsBusy, knownCard, readCardAhead } from "../../repos/read-card.ts";
import { lockRepo, readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { countObjects, recountRepository } from "../count-objects.ts";
import { countRefs, LOOSE_REFS_MAX } from "../refs/loose-refs.ts";
import { repositoryPath } from "../repository.ts";
import { RanOutOfTime, runGit } from "../run-git.ts";
import { fetchLimits } from "../smart-http/transfer-settings.ts";
import { removeStaleFiles } from "./remove-files.ts";

const LOCKS_OLDER_THAN_MS = 10 * 60 * 1000;
const LOOSE_OBJECTS_MAX = 200;
const PACKS_MAX = 8;
const PRUNE = "2.weeks.ago";
const FULL_EVERY_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_MS = 30 * 60 * 1000;
const RETRY_SECONDS = 60 * 60;
/** The pause after maintenance that ran out of time, because the next attempt will take as long (S137). */
const SLOW_RETRY_SECONDS = 24 * 60 * 60;
/** After longer maintenance of a user's repositories, those of other users come first. */
const LONG_MS = 1_000;
const maintainedMs = new Map<string, number>();
const MAINTAINED_MAX = 10_000;
const BUSY_RETRY_SECONDS = 60;

// Clones have precedence, so maintenance uses little memory and leaves packs of gigabytes unchanged.
const config = [
  "pack.threads=1",
  "pack.windowMemory=64m",
  "gc.bigPackThreshold=1g",
  "core.fsync=objects,derived-metadata,reference",
];

export async function maintainRepository(
  { id, attempts }: DueMaintenance,
  claimId: string,
  limits: { maxMs?: number; longMs?: number } = {},
): Promise<void> {
  const begun = performance.now();
  let repo: Repo | undefined;
  try {
    repo = await readRepo(id);
    const path = repositoryPath(id);
    const isHeld = await areDeletionsHeld();
    if (repo && !repo.platformId && (await isThere(path))) {
      const [tidied] = await Promise.allSettled([isHeld ? undefined : tidy(path, limits)]);
      const [read] = await Promise.allSettled([recountRepository(id).then(() => readCardAgain(id, path))]);
      for (const outcome of [tidied, read]) if (outcome.status === "rejected") throw outcome.reason;
    }
    await (isHeld ? waitForBackup(id, claimId) : finish(id, claimId));
  } catch (error) {
    log().warn({ err: error, repo: id, attempts }, "the maintenance of a repository failed; trying again later");
    await postpone(id, claimId, retryAfterSeconds(error, attempts));
  }
  if (!repo) return;
  const party = repo.createdById ?? repo.owner.id;
  const sumMs = (maintainedMs.get(party) ?? 0) + performance.now() - begun;
  const isLong = sumMs >= (limits.longMs ?? LONG_MS);
  if (maintainedMs.size >= MAINTAINED_MAX) maintainedMs.clear();
  maintainedMs.set(party, isLong ? 0 : sumMs);
  if (isLong) await letOthersGoFirst(repo, sumMs);
}

/** One user may have thousands of repositories in many organizations, and a worker maintains one at a time (S137). */
async function letOthersGoFirst({ owner, createdById }: Repo, tookMs: number): Promise<void> {
  await retryDeadlocks(() =>
    pool().query(
      `UPDATE repo_maintenance m SET due_at = now() + make_interval(secs => $2) FROM repo r
        WHERE (r.owner_id = $1 OR r.created_by_id = $3) AND m.id = r.id AND m.claim_id IS NULL AND m.due_at < now() + make_interval(secs => $2)`,
      [owner.id, tookMs / 1_000, createdById],
    ),
  );
}

async function postpone(id: string, claimId: string, seconds: number): Promise<void> {
  await pool().query(
    `UPDATE repo_maintenance SET claim_id = NULL, claimed_until = NULL, due_at = now() + make_interval(secs => $3)
      WHERE id = $1 AND claim_id = $2`,
    [id, claimId, seconds],
  );
}

function retryAfterSeconds(error: unknown, attempts: number): number {
  if (error instanceof RanOutOfTime) return SLOW_RETRY_SECONDS;
  const isBusy = error instanceof ServiceError && error.code === "unavailable";
  return (isBusy ? BUSY_RETRY_SECONDS : RETRY_SECONDS) * Math.min(attempts, 24);
}

async function readCardAgain(id: string, path: string): Promise<void> {
  const sha = (await readRepo(id))?.headSha;
  if (!sha) return;
  if (!(await readCardAhead(path, [sha]))) throw cardsBusy();
  await db().$transaction(async (tx) => {
    const repo = await lockRepo(tx, id);
    const read = repo?.headSha === sha ? knownCard(path, sha, repo) : undefined;
    if (!read) return;
    const { tags, card, sdk } = read;
    await tx.repo.update({ where: { id }, data: { tags, sdk, card: (card as Prisma.InputJsonObject | null) ?? Prisma.DbNull } });
  });
}

/** While a backup copies the repository, nothing may be deleted. */
async function waitForBackup(id: string, claimId: string): Promise<void> {
  await pool().query(
    `UPDATE repo_maintenance SET claim_id = NULL, claimed_until = NULL, attempts = attempts - 1,
            due_at = CASE WHEN due_at > now() THEN due_at ELSE now() + make_interval(secs => $3) END
      WHERE id = $1 AND claim_id = $2`,
    [id, claimId, MAINTENANCE_DELAY_SECONDS],
  );
}

/** The row stays if somebody made it due again meanwhile. */
async function finish(id: string, claimId: string): Promise<void> {
  const { rowCount } = await pool().query(`DELETE FROM repo_maintenance WHERE id = $1 AND claim_id = $2 AND due_at <= now()`, [
    id,
    claimId,
  ]);
  if (rowCount) return;
  await pool().query(`UPDATE repo_maintenance SET claim_id = NULL, claimed_until = NULL WHERE id = $1 AND claim_id = $2`, [
    id,
    claimId,
  ]);
}

/** Packs grow by powers of two, so that most maintenance copies few objects. */
export async function tidy(path: string, { maxMs = MAX_MS } = {}): Promise<"nothing" | "packed refs" | "repacked" | "collected"> {
  await removeStaleFiles(path, { locksOlderThanMs: LOCKS_OLDER_THAN_MS });
  const { loose, packs } = await countObjects(path);
  const marker = join(path, "keyhook-collected");
  const isFullDue = Date.now() - (await lastCollected(marker)) > FULL_EVERY_MS;
  const hasFewObjects = loose <= LOOSE_OBJECTS_MAX && packs <= PACKS_MAX && !(isFullDue && loose + packs > 1);
  const hasManyRefs = (await countRefs(path)).loose > LOOSE_REFS_MAX;
  if (hasFewObjects && !hasManyRefs) return "nothing";
  const { isLimited, niceness, memoryMiB } = fetchLimits;
  const end = performance.now() + maxMs;
  const run = async (...args: string[]) => {
    const timeoutMs = Math.ceil(end - performance.now());
    if (timeoutMs <= 0) throw new RanOutOfTime();
    return runGit(path, args, { config, isLimited, niceness, memoryMiB, cpuSeconds: Math.ceil(timeoutMs / 1_000), timeoutMs });
  };
  // Refs are packed first, because the next steps read all refs and may fail.
  if (hasManyRefs) await run("pack-refs", "--all", "--prune");
  if (hasFewObjects) return "packed refs";
  if (isFullDue) {
    const isCollected = await run("gc", "--quiet", "--force", `--prune=${PRUNE}`).then(() => true, ifTooLarge);
    const now = new Date();
    await writeFile(marker, "");
    await utimes(marker, now, now);
    if (isCollected) return "collected";
  }
  await run("repack", "-d", "-l", "-q", "--geometric=2", "--write-midx");
  await run("pack-refs", "--all", "--prune");
  await run("commit-graph", "write", "--reachable", "--split", "--no-progress");
  return "repacked";
}

function ifTooLarge(error: unknown): false {
  if (!(error instanceof RanOutOfTime)) throw error;
  log().warn({ err: error }, "git cannot collect the garbage of a repository: it takes too much time or memory");
  return false;
}

async function lastCollected(marker: string): Promise<number> {
  const found = (await stat(marker).catch(() => undefined)) ?? (await stat(join(marker, "../config")).catch(() => undefined));
  return found?.mtimeMs ?? 0;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

export const maintenanceTable: LeasedTable = { name: "repo_maintenance", isOpen: "true" };

/** Nothing notifies this channel, because maintenance is never urgent. */
export const MAINTENANCE_CHANNEL = "repo_maintenance";

export type DueMaintenance = { id: string; attempts: number };

export const MAINTENANCE_DELAY_SECONDS = 10 * 60;

/** Call this before a transfer to a repository, because a failed transfer leaves objects too. */
export async function scheduleMaintenance(repoId: string): Promise<void> {
  await pool().query({
    name: "schedule-maintenance",
    text: `INSERT INTO repo_maintenance (id, due_at) VALUES ($1, now() + make_interval(secs => $2)) ON CONFLICT (id) DO NOTHING`,
    values: [repoId, MAINTENANCE_DELAY_SECONDS],
  });
}

const SOON_SECONDS = 30;

/** Makes the row due even during maintenance, which may have passed the requested step already. */
export async function scheduleMaintenanceSoon(tx: Db, repoId: string): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO repo_maintenance AS row (id, due_at) VALUES (${repoId}, now() + make_interval(secs => ${SOON_SECONDS}))
    ON CONFLICT (id) DO UPDATE
      SET due_at = CASE WHEN row.claim_id IS NULL THEN least(row.due_at, excluded.due_at) ELSE excluded.due_at END`;
}
