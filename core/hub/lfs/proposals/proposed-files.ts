import { type Db, db } from "../../../db.ts";
import { conflict, invalidRequest } from "../../../errors.ts";
import { log } from "../../../log.ts";
import { deadlineIn, WALK_MAX_MS, walkLinesUntil } from "../../git/read/walk.ts";
import type { RefChange } from "../../git/refs/ref-name.ts";
import { quarantined } from "../../git/run-git.ts";
import { copyLfsObjects } from "../objects/copy-lfs-objects.ts";
import { findLfsObjects, type StoredLfsObject } from "../objects/find-lfs-object.ts";
import { dropFiles } from "./drop-files.ts";

/** `blob` is the ID of the pointer in git. */
export type ProposedPointer = { blob: string; oid: string };

/** S137: a push of a few megabytes may contain a million pointers, which no quota counts. */
export const POINTERS_MAX = 50_000;

const tooMany = () =>
  invalidRequest(
    `Your pull requests can contain at most ${POINTERS_MAX.toLocaleString("en")} large files in total. Delete the commits of closed ones.`,
  );

/** Call this before the pull request's ref points to the commits. */
export async function claimFiles(
  tx: Db,
  { repoId, num, storeId }: { repoId: string; num: number; storeId: string | undefined },
  pointers: readonly ProposedPointer[],
): Promise<void> {
  if (pointers.length === 0) return;
  if (pointers.length > POINTERS_MAX) throw tooMany();
  const oids = [...new Set(pointers.map(({ oid }) => oid))];
  const there = await tx.$queryRaw<{ oid: string }[]>`
    SELECT oid FROM lfs_object WHERE repo_id = ${storeId ?? ""} AND oid = ANY (${oids}) ORDER BY oid FOR KEY SHARE`;
  if (storeId === undefined || there.length < oids.length)
    throw invalidRequest("Some large files of this commit are no longer stored. Upload them again.");
  // The row may have lost its store, if the pull request's commits were deleted meanwhile.
  await tx.$executeRaw`
    INSERT INTO proposed_file (repo_id, num, blob, oid, store_id)
    SELECT DISTINCT ${repoId}::text, ${num}::int, blob, oid, ${storeId}::text
      FROM unnest(${pointers.map(({ blob }) => blob)}::text[], ${pointers.map(({ oid }) => oid)}::text[]) AS p(blob, oid)
    ON CONFLICT (repo_id, blob, num) DO UPDATE SET store_id = excluded.store_id`;
  const [total] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM repo own JOIN repo r ON r.owner_id = own.owner_id AND r.proposed_to_id IS NOT NULL
      JOIN proposed_file p ON p.store_id = r.id WHERE own.id = ${storeId}`;
  if ((total?.count ?? 0) > POINTERS_MAX) throw tooMany();
}

export async function findReadableLfsObject(repoId: string, oid: string): Promise<StoredLfsObject | undefined> {
  return (await findReadableLfsObjects(repoId, [oid])).get(oid);
}

export async function findReadableLfsObjects(repoId: string, oids: readonly string[]): Promise<Map<string, StoredLfsObject>> {
  const own = await findLfsObjects(repoId, oids);
  const others = oids.filter((oid) => !own.has(oid));
  return new Map([...own, ...(await findProposed(repoId, others))]);
}

async function findProposed(repoId: string, oids: readonly string[]): Promise<Map<string, StoredLfsObject>> {
  if (oids.length === 0) return new Map();
  const rows = await db().$queryRaw<StoredLfsObject[]>`
    SELECT DISTINCT ON (o.oid) o.oid, o.size_bytes::float8 AS size, o.location, o.repo_id AS "holderId"
      FROM proposed_file p JOIN lfs_object o ON o.repo_id = p.store_id AND o.oid = p.oid
     WHERE p.repo_id = ${repoId} AND p.oid = ANY (${[...oids]}) ORDER BY o.oid`;
  return new Map(rows.map((row) => [row.oid, row]));
}

/** Call this before branches or tags get a pull request's commits. `quarantine` has objects that git does not find yet. */
export async function adoptFiles(
  repo: { id: string },
  path: string,
  asked: readonly RefChange[],
  quarantine: string | undefined,
): Promise<void> {
  const tips = asked.flatMap(({ ref, newSha }) => (newSha && !ref.startsWith("refs/pr/") ? [newSha] : []));
  if (tips.length === 0) return;
  const merged = await findMerged(repo.id, path, tips, quarantine);
  const own = await findLfsObjects(repo.id, merged);
  const wanted = merged.filter((oid) => !own.has(oid));
  const stores = await findStores(repo.id, wanted);
  requireStored(wanted, stores);
  for (const storeId of new Set(stores.values())) {
    await copyLfsObjects(
      { id: storeId },
      repo,
      wanted.filter((oid) => stores.get(oid) === storeId),
    );
  }
  // The author may have deleted their account meanwhile.
  if (wanted.length > 0) requireStored(wanted, await findLfsObjects(repo.id, wanted));
  await forgetMerged(repo.id, merged);
}

const MANY_OBJECTS = 2_000;

/** Reads all pointers at once: a stranger's pull request must not cause a query for each batch. */
async function findMerged(
  repoId: string,
  path: string,
  tips: readonly string[],
  quarantine: string | undefined,
): Promise<string[]> {
  const merged = new Set<string>();
  const args = ["rev-list", "--objects", "--stdin", "--not", "--branches", "--tags"];
  let seen = 0;
  let all: Map<string, string> | undefined;
  const take = async (lines: readonly string[]) => {
    const isFirstOfMany = seen <= MANY_OBJECTS && seen + lines.length > MANY_OBJECTS;
    seen += lines.length;
    if (isFirstOfMany) all = await readPointers(repoId);
    const blobs = lines.map((line) => line.slice(0, 40));
    const oids = all ? blobs.flatMap((blob) => all?.get(blob) ?? []) : await findPointers(repoId, blobs);
    for (const oid of oids) merged.add(oid);
  };
  // The options are arguments, because before version 2.42 git reads no options from the input.
  await walkLinesUntil(deadlineIn(WALK_MAX_MS), path, args, take, {
    input: `${tips.join("\n")}\n`,
    ...(quarantine && { env: quarantined(path, quarantine) }),
  });
  return [...merged];
}

async function findPointers(repoId: string, blobs: readonly string[]): Promise<string[]> {
  const rows = await db().$queryRaw<{ oid: string }[]>`
    SELECT DISTINCT oid FROM proposed_file WHERE repo_id = ${repoId} AND blob = ANY (${[...blobs]})`;
  return rows.map(({ oid }) => oid);
}

async function readPointers(repoId: string): Promise<Map<string, string> | undefined> {
  const rows = await db().$queryRaw<ProposedPointer[]>`
    SELECT DISTINCT blob, oid FROM proposed_file WHERE repo_id = ${repoId} LIMIT ${2 * POINTERS_MAX + 1}`;
  return rows.length > 2 * POINTERS_MAX ? undefined : new Map(rows.map(({ blob, oid }) => [blob, oid]));
}

async function findStores(repoId: string, oids: readonly string[]): Promise<Map<string, string>> {
  if (oids.length === 0) return new Map();
  const rows = await db().$queryRaw<{ oid: string; storeId: string }[]>`
    SELECT DISTINCT ON (oid) oid, store_id AS "storeId" FROM proposed_file
     WHERE repo_id = ${repoId} AND oid = ANY (${[...oids]}) AND store_id IS NOT NULL ORDER BY oid`;
  return new Map(rows.map(({ oid, storeId }) => [oid, storeId]));
}

function requireStored(oids: readonly string[], stored: ReadonlyMap<string, unknown>): void {
  const lost = oids.find((oid) => !stored.has(oid));
  if (lost === undefined) return;
  throw conflict(
    `The pull request's large file ${lost} is no longer stored here, because its author's uploads were deleted. ` +
      "Somebody who has the file can upload it with: git lfs push --all <remote>",
  );
}

async function forgetMerged(repoId: string, oids: readonly string[]): Promise<void> {
  if (oids.length === 0) return;
  const rows = await db().$queryRaw<{ storeId: string | null; oid: string }[]>`
    DELETE FROM proposed_file WHERE repo_id = ${repoId} AND oid = ANY (${[...oids]}) RETURNING store_id AS "storeId", oid`;
  for (const storeId of new Set(rows.map((row) => row.storeId))) {
    if (storeId === null) continue;
    const dropped = new Set(rows.filter((row) => row.storeId === storeId).map(({ oid }) => oid));
    await dropFiles(storeId, [...dropped], repoId).catch((err: unknown) =>
      log().warn({ err, store: storeId }, "merged uploads for pull requests are not deleted yet"),
    );
  }
}

export const RELEASED_MAX = 10_000;

/** The rows stay, because other commits may contain the same pointers. Above a limit they are deleted (S137). */
export async function releaseFiles(tx: Db, repoId: string, nums: readonly number[]): Promise<void> {
  if (nums.length === 0) return;
  const { count } = await tx.proposedFile.updateMany({ where: { repoId, num: { in: [...nums] } }, data: { storeId: null } });
  const released = { repoId, storeId: null };
  if (count > 0 && (await tx.proposedFile.count({ where: released })) > RELEASED_MAX)
    await tx.proposedFile.deleteMany({ where: released });
}
