import type { Actor } from "../../../access/actor.ts";
import { env } from "../../../env.ts";
import { ServiceError } from "../../../errors.ts";
import { currentParty } from "../../../fair-queue/party.ts";
import { holdUploads, requireRoom } from "../../../storage/hold-storage.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { isLfsOid, isLfsSize, type LfsObjectId } from "../lfs-object.ts";
import { findLfsObjects, type StoredLfsObject } from "../objects/find-lfs-object.ts";
import { uploadHoldId } from "../objects/record-lfs-object.ts";
import { lfsStorage } from "../storage/storages.ts";
import { LFS_LEFTOVER_HOURS } from "../sweep-lfs-leftovers.ts";
import { type Actions, downloadActions, type TransferKind, uploadActions, uploadKind } from "./transfer-actions.ts";
import { type Uploader, uploaderOf } from "./uploader.ts";

/** The largest batch that a client of today sends has 256. */
export const OBJECTS_MAX = 1_000;
/** Of those whose addresses take a request to the bucket. */
const AT_ONCE = 16;
const MB = 1_000_000;
const ALGORITHMS = ["sha256", "sha_256"];

/** A batch request, after its shape was checked. Oids and sizes are looked at one by one, since each is answered for itself. */
export type Batch = {
  operation: "download" | "upload";
  transfers?: readonly string[];
  hashAlgorithm?: string;
  objects: readonly { oid: unknown; size: unknown }[];
};

export type BatchAnswer = { transfer: TransferKind; objects: BatchObject[]; hash_algo: "sha256" };
type BatchObject = { oid: string; size: number; authenticated?: true; actions?: Actions; error?: ObjectError };
type ObjectError = { code: 404 | 410 | 422; message: string };

/**
 * Says, of each object, from where to get it or to where to put it (Git LFS batch API, version 1). What the repository has already is
 * not asked for again; what another repository has is: having the hash proves nothing.
 * @throws ServiceError as `findRepo`; `forbidden` for a read-only repository; `conflict` for a hash that we do not know or a
 * repository whose content lies elsewhere; `payload_too_large`; `storage_full` when not all of it fits, since of a push that misses one
 * file the others are of no use
 */
export async function answerLfsBatch(actor: Actor, name: RepoName, batch: Batch): Promise<BatchAnswer> {
  const isUpload = batch.operation === "upload";
  const repo = await findRepo(actor, name, isUpload ? "repo.write" : "repo.read_content");
  if (repo.platformId) throw new ServiceError("conflict", "The content of this repository lies elsewhere. Use its own address.");
  if (isUpload && repo.isReadOnly) throw new ServiceError("forbidden", "This repository is read-only.");
  if (!ALGORITHMS.includes(batch.hashAlgorithm ?? "sha256"))
    throw new ServiceError("conflict", "Objects are named by sha256 here.");
  if (batch.objects.length > OBJECTS_MAX) {
    throw new ServiceError("payload_too_large", `Ask for at most ${OBJECTS_MAX} objects at once.`);
  }
  const transfer: TransferKind = isUpload ? uploadKind(batch.transfers ?? []) : "basic";
  const wanted = [...new Map(batch.objects.map((object) => [object.oid, object])).values()];
  const stored = await findLfsObjects(repo.id, wanted.map(({ oid }) => oid).filter(isLfsOid));
  if (isUpload) await requireRoomFor(repo, wanted, stored, transfer);
  const isAnyMissing = wanted.some(({ oid }) => !stored.has(String(oid)));
  const uploader = isUpload && isAnyMissing ? await uploaderOf(actor) : undefined;
  const objects: BatchObject[] = [];
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE);
    objects.push(
      ...(await Promise.all(some.map((object) => answerObject(repo, object, stored, { isUpload, transfer, uploader })))),
    );
  }
  return { transfer, objects, hash_algo: "sha256" };
}

/**
 * What comes through us is held as it comes. What goes to a bucket directly is out of our sight until it is there, so that room for it is
 * held until what nobody finished is removed (sweep-lfs-leftovers.ts).
 */
async function requireRoomFor(
  repo: Repo,
  wanted: Batch["objects"],
  stored: ReadonlyMap<string, StoredLfsObject>,
  kind: TransferKind,
): Promise<void> {
  const coming = wanted.filter(
    (object): object is LfsObjectId => isLfsOid(object.oid) && !stored.has(object.oid) && isAllowedSize(object.size),
  );
  const bytes = coming.reduce((sum, { size }) => sum + size, 0);
  if (bytes === 0) return;
  const what = coming.length === 1 ? "this file" : `these ${coming.length} files`;
  if (!lfsStorage().direct) return requireRoom(repo.owner, bytes, what);
  const party = currentParty().key;
  const uploads = coming.map((object) => ({
    id: uploadHoldId({ ...object, repoId: repo.id, kind, party }),
    bytes: object.size,
  }));
  return holdUploads(repo.owner, uploads, { seconds: (LFS_LEFTOVER_HOURS + 1) * 3_600, what });
}

const isAllowedSize = (size: unknown): boolean => isLfsSize(size) && size <= env().LFS_MAX_OBJECT_MB * MB;

async function answerObject(
  repo: Repo,
  { oid, size }: Batch["objects"][number],
  stored: ReadonlyMap<string, StoredLfsObject>,
  { isUpload, transfer, uploader }: { isUpload: boolean; transfer: TransferKind; uploader: Uploader | undefined },
): Promise<BatchObject> {
  const refuse = (code: ObjectError["code"], message: string): BatchObject => ({
    oid: String(oid),
    size: Number(size) || 0,
    error: { code, message },
  });
  if (!isLfsOid(oid)) return refuse(422, "An oid is a SHA-256, as 64 hexadecimal digits in lower case.");
  if (!isLfsSize(size)) return refuse(422, "A size is a whole number of bytes.");
  const found = stored.get(oid);
  if (found && found.size !== size) return refuse(422, `This object has ${found.size} bytes.`);
  if (!isUpload) {
    if (!found) return refuse(404, "This repository does not have the object.");
    return { oid, size, authenticated: true, actions: await downloadActions(repo, found) };
  }
  if (found) return { oid, size, authenticated: true };
  if (!isAllowedSize(size)) return refuse(422, `A file may have at most ${env().LFS_MAX_OBJECT_MB} MB here.`);
  return { oid, size, authenticated: true, actions: await uploadActions(repo, { oid, size }, { kind: transfer, uploader }) };
}
