import type { Actor, ActorNow } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { db, inTransaction } from "../../../db.ts";
import { conflict, invalidRequest, notFound } from "../../../errors.ts";
import { walks } from "../../git/queues.ts";
import { deadlineIn, WALK_MAX_MS, walkLinesUntil } from "../../git/read/walk.ts";
import { listRefs } from "../../git/refs/git-refs.ts";
import { requireChangeable } from "../../git/refs/require-changeable.ts";
import { openRepository } from "../../git/repository.ts";
import { UNDER_LOCK } from "../../git/run-git.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { lockRepo } from "../../repos/read-repos.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { findPointers } from "../find-missing-pointers.ts";
import { isLfsOid } from "../lfs-object.ts";
import { isAsPrepared, prepareRemoval, removeFiles } from "./remove-files.ts";

export const LFS_FILES_PAGE = 1_000;

type ListedLfsFile = {
  oid: string;
  size: number;
  createdAt: Date;
  path: string | undefined;
  isInDefaultBranch: boolean;
};

/**
 * Only for writers, because files that were removed from the history are listed too. `after` is the last SHA-256 of the previous
 * page.
 */
export async function listLfsFiles(actor: Actor, name: RepoName, after = ""): Promise<{ repo: Repo; files: ListedLfsFile[] }> {
  const repo = await findRepo(actor, name, "repo.write");
  const path = await openRepository(repo);
  const rows = await db().lfsObject.findMany({
    where: { repoId: repo.id, oid: { gt: after } },
    orderBy: { oid: "asc" },
    take: LFS_FILES_PAGE,
    select: { oid: true, sizeBytes: true, createdAt: true },
  });
  const blobs = await pointersTo(path, new Set(rows.map(({ oid }) => oid)));
  const present = repo.headSha ? await pathsOf(path, ["ls-tree", "-r", "--full-tree", repo.headSha], blobs) : new Map();
  const past = await pathsOf(path, ["rev-list", "--objects", "--all"], blobs);
  const files = rows.map(({ oid, sizeBytes, createdAt }) => ({
    ...{ oid, size: Number(sizeBytes), createdAt },
    path: present.get(oid) ?? past.get(oid),
    isInDefaultBranch: present.has(oid),
  }));
  return { repo, files };
}

/** Deletes all of the files, or none if the history refers to one. Xorbs stay for a month, for further uploads. */
export async function deleteLfsFiles(
  actor: Actor,
  name: RepoName,
  asked: readonly string[],
  from: RequestOrigin,
  actorNow: ActorNow = async () => actor,
): Promise<void> {
  const oids = [...new Set(asked)];
  if (!oids.every(isLfsOid)) throw invalidRequest("Name each file by its SHA-256, in 64 hex digits.", "sha");
  const repo = await findRepo(actor, name, "repo.write");
  const path = await openRepository(repo);
  const before = await listRefs(path);
  const used = await pathsOf(path, ["rev-list", "--objects", "--all"], await pointersTo(path, new Set(oids)));
  if (used.size > 0) throw stillUsed([...used.values()]);
  const removal = await prepareRemoval(repo.id, oids);
  const now = await actorNow();
  await inTransaction(async (tx) => {
    const current = await lockRepo(tx, repo.id);
    if (!current) throw notFound("Repository");
    await requirePermission(now, "repo.write", repoResource(current), { what: "Repository", tx });
    requireChangeable(current);
    // The lock prevents new changes of refs. `changeRefs` refuses a change that it checked before this deletion.
    const isChanging = (await tx.refUpdate.count({ where: { repoId: repo.id } })) > 0;
    const after = await listRefs(path, "refs/", UNDER_LOCK);
    const isSame = after.size === before.size && [...after].every(([ref, sha]) => before.get(ref) === sha);
    // The number of files would not show that one was deleted and another one added by Xet.
    const isAsCounted =
      (await isAsPrepared(tx, repo.id, removal)) && current.lfsRemovedAt?.getTime() === repo.lfsRemovedAt?.getTime();
    if (isChanging || !isSame || !isAsCounted) throw conflict("This repository is being changed. Try again in a moment.");
    const count = await removeFiles(tx, current, removal, { actor: now });
    await tx.$executeRaw`UPDATE repo SET lfs_removed_at = clock_timestamp() WHERE id = ${repo.id}`;
    if (count === 0) return;
    const data = { repo: current.fullName, type: current.type, count };
    await recordAuditEvent(tx, { type: "repo.delete_files", actor: now, owner: current.owner, data, from });
  });
}

const NAMED_MAX = 3;

function stillUsed(paths: readonly string[]) {
  const named = paths.slice(0, NAMED_MAX).map((path) => JSON.stringify(path));
  const more = paths.length - named.length;
  return conflict(
    `The history still refers to ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}. This service does not rewrite the history to ` +
      "delete large files. Delete the files from the branches that you want to keep, and squash those branches. Then delete all other branches, tags and pull requests whose history contains the files.",
  );
}

function pointersTo(path: string, oids: ReadonlySet<string>): Promise<Map<string, string>> {
  return walks.run(
    async () => {
      const blobs = new Map<string, string>();
      // A longer limit would let a writer hold the slot for long (S137).
      const limits = { timeoutMs: WALK_MAX_MS, isLimited: true, niceness: 19 } as const;
      for await (const pointers of findPointers(path, `${path}/objects`, limits)) {
        for (const { blob, oid } of pointers) if (oids.has(oid)) blobs.set(blob, oid);
      }
      return blobs;
    },
    { within: path },
  );
}

/** @param args a git command that lists `<name> <path>` or entries of folders */
async function pathsOf(path: string, args: readonly string[], blobs: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  if (blobs.size === 0) return paths;
  await walkLinesUntil(deadlineIn(WALK_MAX_MS), path, args, (lines) => {
    for (const line of lines) {
      // Only the object's name decides (S148). A path may have any characters, or be empty if a tag names the blob.
      const at = /^\d{6} [a-z]+ /.exec(line)?.[0].length ?? 0;
      const oid = blobs.get(line.slice(at, at + 40));
      if (oid !== undefined && !paths.has(oid)) paths.set(oid, line.slice(at + 41) || oid);
    }
  });
  return paths;
}
