import type { Db } from "../../../db.ts";
import { recordEvent } from "../../../events/record-event.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { followRefChanges, noteHeadChanges } from "../../discussions/follow-ref-changes.ts";
import { followLater } from "../../discussions/late-changes.ts";
import type { RefEffects } from "../../discussions/read-ref-effects.ts";
import { releaseFiles } from "../../lfs/proposals/proposed-files.ts";
import { knownCard, noCard } from "../../repos/read-card.ts";
import { lockRepo } from "../../repos/read-repos.ts";
import { type Repo, repoPayload } from "../../repos/repo.ts";
import { countBytes, recountRepository } from "../count-objects.ts";
import { scheduleMaintenanceSoon } from "../maintenance/maintain-repository.ts";
import { openRepository } from "../repository.ts";
import { runGit, UNDER_LOCK } from "../run-git.ts";
import type { RefUpdateNote } from "./change-refs.ts";
import { findRefs, isRecorded, readRefHistory, resolveRef } from "./git-refs.ts";
import type { RefChange } from "./ref-name.ts";

export type Recorded = { repo: Repo; changed: readonly RefChange[] };

/** S137: a worker holds the payloads of hundreds of deliveries, and a push may name ten thousand refs. */
export const EVENT_REFS_MAX_BYTES = 256 * 1024;

/**
 * Objects of refused pushes count too: otherwise they could fill the disk beyond the quota. The row is locked, so nothing slow
 * happens here, and cards and pull requests may follow later (S137).
 */
export async function recordRefChanges(
  tx: Db,
  note: RefUpdateNote,
  changed: readonly RefChange[],
  effects: RefEffects,
): Promise<Recorded | undefined> {
  const { count } = await tx.refUpdate.deleteMany({ where: { id: note.id } });
  if (changed.length === 0) {
    await recountRepository(note.repoId, tx);
    return undefined;
  }
  const before = await lockRepo(tx, note.repoId);
  if (!before) return undefined;
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
  const event = { scope: "repo.content", action: "update" } as const;
  for (const updatedRefs of partsOf(fresh.map(({ ref, oldSha, newSha }) => ({ ref, oldSha, newSha }))))
    await recordEvent(tx, { payload: { event, repo: repoPayload(repo), updatedRefs }, actorId: note.actorId });
  const { actorId, party, startedAt } = note;
  const { late } = await followRefChanges(tx, repo, fresh, { actorId, party, effects, at: startedAt });
  await followLater(tx, note, late);
  await noteHeadChanges(tx, repo.id, fresh);
  await releaseFiles(
    tx,
    repo.id,
    fresh.flatMap(({ ref, newSha }) => (newSha === null ? (numOfPullRequestRef(ref) ?? []) : [])),
  );
  return { repo, changed: fresh };
}

function partsOf<T>(refs: readonly T[]): T[][] {
  const parts: T[][] = [];
  let bytes = EVENT_REFS_MAX_BYTES;
  for (const ref of refs) {
    const size = Buffer.byteLength(JSON.stringify(ref));
    bytes += size;
    if (bytes > EVENT_REFS_MAX_BYTES) {
      parts.push([]);
      bytes = size;
    }
    parts.at(-1)?.push(ref);
  }
  return parts;
}

async function withoutRecorded(
  tx: Db,
  { repoId, startedAt }: { repoId: string; startedAt: Date },
  changed: readonly RefChange[],
): Promise<readonly RefChange[]> {
  const history = await readRefHistory(tx, repoId, startedAt, changed);
  return changed.filter((change) => !isRecorded(history, change));
}

async function chooseDefaultBranch(path: string, repo: Repo, changed: readonly RefChange[]): Promise<string> {
  const made = changed.flatMap(({ ref, oldSha }) => (oldSha === null && ref.startsWith("refs/heads/") ? [ref.slice(11)] : []));
  if (repo.headSha !== null || made.length === 0 || made.includes(repo.defaultBranch)) return repo.defaultBranch;
  const names = new Set(made.map((branch) => `refs/heads/${branch}`));
  const { refs, total } = await findRefs(path, names, { prefix: "refs/heads/", max: names.size + 1, ...UNDER_LOCK });
  const first = ["master", ...made].find((branch) => refs.has(`refs/heads/${branch}`));
  if (!first || total > refs.size) return repo.defaultBranch;
  await runGit(path, ["symbolic-ref", "HEAD", `refs/heads/${first}`], UNDER_LOCK);
  return first;
}

/** Call this with the row locked, so that the later of two pushes wins. */
async function readHead(tx: Db, path: string, repo: Repo): Promise<Pick<Repo, "headSha" | "tags" | "card" | "sdk">> {
  const headSha = await resolveRef(path, `refs/heads/${repo.defaultBranch}`, UNDER_LOCK);
  if (!headSha) return { headSha, ...noCard(repo) };
  const card = knownCard(path, headSha, repo);
  if (!card && headSha !== repo.headSha) await scheduleMaintenanceSoon(tx, repo.id);
  return { headSha, tags: repo.tags, card: repo.card, sdk: repo.sdk, ...card };
}
