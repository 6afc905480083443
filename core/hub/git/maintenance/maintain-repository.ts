import { access, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { db, pool } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { log } from "../../../log.ts";
import { cardsBusy, knownCard, readCardAhead } from "../../repos/read-card.ts";
import { lockRepo, readRepo } from "../../repos/read-repos.ts";
import { countObjects, recountRepository } from "../count-objects.ts";
import { repositoryPath } from "../repository.ts";
import { runGit } from "../run-git.ts";
import type { DueMaintenance } from "./maintenance-table.ts";
import { removeStaleFiles } from "./remove-stale-files.ts";

const LOCKS_OLDER_THAN_MS = 10 * 60 * 1000;
/** Up to this many, reading costs nothing noticeable. */
const LOOSE_OBJECTS_MAX = 200;
const PACKS_MAX = 8;
/** Unreachable objects are kept for two weeks, and looked for once a week. */
const PRUNE = "2.weeks.ago";
const FULL_EVERY_MS = 7 * 24 * 60 * 60 * 1000;
const STEP_MAX_MS = 60 * 60 * 1000;
const RETRY_SECONDS = 60 * 60;
/** When others were in the way. */
const BUSY_RETRY_SECONDS = 60;

// One core and little memory, and packs of gigabytes are left as they are: clones come first.
const config = [
  "pack.threads=1",
  "pack.windowMemory=64m",
  "gc.bigPackThreshold=1g",
  "core.fsync=objects,derived-metadata,reference",
];

/** The work of one row (worker/loop.ts): maintains the git data of a repository that has received something. */
export async function maintainRepository({ id, attempts }: DueMaintenance, claimId: string): Promise<void> {
  try {
    const repo = await readRepo(id);
    const path = repositoryPath(id);
    if (repo && !repo.platformId && (await isThere(path))) {
      await tidy(path);
      await recountRepository(id);
      await readCardAgain(id, path);
    }
    await finish(id, claimId);
  } catch (error) {
    log().warn({ err: error, repo: id, attempts }, "a repository could not be looked after; it is tried again later");
    await pool().query(
      `UPDATE repo_maintenance SET claim_id = NULL, claimed_until = NULL, due_at = now() + make_interval(secs => $3)
        WHERE id = $1 AND claim_id = $2`,
      [id, claimId, (isBusy(error) ? BUSY_RETRY_SECONDS : RETRY_SECONDS) * Math.min(attempts, 24)],
    );
  }
}

const isBusy = (error: unknown): boolean => error instanceof ServiceError && error.code === "unavailable";

/** For a push that was recorded while cards were busy. It comes last: a card put off from now on finds the row due again. */
async function readCardAgain(id: string, path: string): Promise<void> {
  const sha = (await readRepo(id))?.headSha;
  if (!sha) return;
  if (!(await readCardAhead(path, [sha]))) throw cardsBusy();
  await db().$transaction(async (tx) => {
    const repo = await lockRepo(tx, id);
    // A later push has read its own card, or has put it off too.
    const read = repo?.headSha === sha ? knownCard(path, sha, repo) : undefined;
    if (!read) return;
    const { tags, card, sdk } = read;
    await tx.repo.update({ where: { id }, data: { tags, sdk, card: (card as Prisma.InputJsonObject | null) ?? Prisma.DbNull } });
  });
}

/** The row stays if somebody made it due again meanwhile (`scheduleMaintenanceSoon`). */
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

/**
 * Combines loose objects and small packs. Packs grow by powers of two (`--geometric`), so that each object is copied a few times in total,
 * and not at every visit; once a week everything is collected.
 * @returns what was done
 */
export async function tidy(path: string): Promise<"nothing" | "repacked" | "collected"> {
  await removeStaleFiles(path, { locksOlderThanMs: LOCKS_OLDER_THAN_MS });
  const { loose, packs } = await countObjects(path);
  const marker = join(path, "keyhook-collected");
  const isFullDue = Date.now() - (await lastCollected(marker)) > FULL_EVERY_MS;
  if (loose <= LOOSE_OBJECTS_MAX && packs <= PACKS_MAX && !(isFullDue && loose + packs > 1)) return "nothing";
  const run = (...args: string[]) => runGit(path, args, { config, timeoutMs: STEP_MAX_MS, niceness: 19 });
  if (isFullDue) {
    await run("gc", "--quiet", "--force", `--prune=${PRUNE}`);
    const now = new Date();
    await writeFile(marker, "");
    await utimes(marker, now, now);
    return "collected";
  }
  await run("repack", "-d", "-l", "-q", "--geometric=2", "--write-midx");
  await run("pack-refs", "--all", "--prune");
  await run("commit-graph", "write", "--reachable", "--split", "--no-progress");
  return "repacked";
}

/** When everything was last collected; if never, when the repository was created. */
async function lastCollected(marker: string): Promise<number> {
  const found = (await stat(marker).catch(() => undefined)) ?? (await stat(join(marker, "../config")).catch(() => undefined));
  return found?.mtimeMs ?? 0;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
