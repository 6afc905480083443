import type { Db } from "../../../db.ts";
import { recordEvent } from "../../../events/record-event.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { followRefChanges, noteHeadChanges } from "../../discussions/follow-ref-changes.ts";
import { followLater } from "../../discussions/late-changes.ts";
import type { Meaning } from "../../discussions/read-meaning.ts";
import { knownCard, noCard } from "../../repos/read-card.ts";
import { lockRepo } from "../../repos/read-repos.ts";
import { type Repo, repoPayload } from "../../repos/repo.ts";
import { countBytes, recountRepository } from "../count-objects.ts";
import { scheduleMaintenanceSoon } from "../maintenance/maintenance-table.ts";
import { openRepository } from "../repository.ts";
import { runGit, UNDER_LOCK } from "../run-git.ts";
import { isRecorded, readRefHistory } from "./history-of-refs.ts";
import { listRefs } from "./list-refs.ts";
import type { RefChange } from "./ref-change.ts";
import { resolveRef } from "./resolve-ref.ts";

export type Recorded = { eventId: string; repo: Repo; changed: readonly RefChange[] };

/**
 * Records that refs were changed: updates what the repository's row says about its content, creates one event for all refs, and deletes
 * the note in `ref_update`. Nothing is recorded for a repository that was deleted meanwhile. If git refused every ref, its objects are
 * still on the disk and are counted: otherwise refused pushes would fill the disk without ever reaching the quota.
 *
 * Nothing slow happens while the row is locked (S137): a card that is not known by now stays as it was until maintenance reads it, and
 * pull requests follow later.
 * @param meaning what git said about the changes in time
 */
export async function recordRefChanges(
  tx: Db,
  note: { id: string; repoId: string; actorId: string | null; startedAt: Date },
  changed: readonly RefChange[],
  meaning: Meaning,
): Promise<Recorded | undefined> {
  const { count } = await tx.refUpdate.deleteMany({ where: { id: note.id } });
  if (changed.length === 0) {
    await recountRepository(note.repoId, tx);
    return undefined;
  }
  const before = await lockRepo(tx, note.repoId);
  if (!before) return undefined;
  // Another process believed that we were dead, and has recorded what it saw.
  const fresh = count > 0 ? changed : await withoutRecorded(tx, note, changed);
  if (fresh.length === 0) return undefined;
  const path = await openRepository(before);
  const defaultBranch = await chooseDefaultBranch(path, before, fresh);
  const head = await readHead(tx, path, { ...before, defaultBranch });
  const repo: Repo = {
    ...before,
    defaultBranch,
    ...head,
    sizeBytes: await countBytes(path, before.sizeBytes),
    updatedAt: new Date(),
  };
  await tx.repo.update({
    where: { id: repo.id },
    data: {
      defaultBranch,
      headSha: repo.headSha,
      sizeBytes: repo.sizeBytes,
      updatedAt: repo.updatedAt,
      tags: repo.tags,
      card: (repo.card as Prisma.InputJsonObject | null) ?? Prisma.DbNull,
      sdk: repo.sdk,
    },
  });
  const eventId = await recordEvent(tx, {
    payload: {
      event: { scope: "repo.content", action: "update" },
      repo: repoPayload(repo),
      updatedRefs: fresh.map(({ ref, oldSha, newSha }) => ({ ref, oldSha, newSha })),
    },
    actorId: note.actorId,
  });
  const { actorId, startedAt } = note;
  const { late } = await followRefChanges(tx, repo, fresh, { actorId, meaning, at: startedAt });
  await followLater(tx, note, late);
  await noteHeadChanges(tx, repo.id, fresh);
  return { eventId, repo, changed: fresh };
}

async function withoutRecorded(
  tx: Db,
  { repoId, startedAt }: { repoId: string; startedAt: Date },
  changed: readonly RefChange[],
): Promise<readonly RefChange[]> {
  const history = await readRefHistory(tx, repoId, startedAt);
  return changed.filter((change) => !isRecorded(history, change));
}

/** In a repository that was empty, the branch that came first becomes the default one, whatever its name is. */
async function chooseDefaultBranch(path: string, repo: Repo, changed: readonly RefChange[]): Promise<string> {
  const made = changed.flatMap(({ ref, oldSha }) => (oldSha === null && ref.startsWith("refs/heads/") ? [ref.slice(11)] : []));
  if (repo.headSha !== null || made.length === 0 || made.includes(repo.defaultBranch)) return repo.defaultBranch;
  const there = new Set([...(await listRefs(path, "refs/heads/", UNDER_LOCK)).keys()].map((ref) => ref.slice(11)));
  const first = there.has("master") ? "master" : made.find((branch) => there.has(branch));
  const isMade = new Set(made);
  if (!first || [...there].some((branch) => !isMade.has(branch))) return repo.defaultBranch;
  await runGit(path, ["symbolic-ref", "HEAD", `refs/heads/${first}`], UNDER_LOCK);
  return first;
}

/** What the default branch says now; read under the row's lock, so that the later of two pushes wins. */
async function readHead(tx: Db, path: string, repo: Repo): Promise<Pick<Repo, "headSha" | "tags" | "card" | "sdk">> {
  const headSha = await resolveRef(path, `refs/heads/${repo.defaultBranch}`, UNDER_LOCK);
  if (!headSha) return { headSha, ...noCard(repo) };
  const card = knownCard(path, headSha, repo);
  if (!card && headSha !== repo.headSha) await scheduleMaintenanceSoon(tx, repo.id);
  return { headSha, tags: repo.tags, card: repo.card, sdk: repo.sdk, ...card };
}
