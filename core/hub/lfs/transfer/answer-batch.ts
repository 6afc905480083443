import type { Actor } from "../../../access/actor.ts";
import { env } from "../../../env.ts";
import { conflict, ServiceError } from "../../../errors.ts";
import { currentParty } from "../../../fair-queue/party.ts";
import { holdUploads, requireRoom } from "../../../storage/hold-storage.ts";
import { requireChangeable } from "../../git/refs/require-changeable.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { countedBytes, isLfsOid, isLfsSize, type LfsObjectId } from "../lfs-object.ts";
import { findLfsObjects, type StoredLfsObject } from "../objects/find-lfs-object.ts";
import { uploadHoldId } from "../objects/record-lfs-object.ts";
import { uploadTargetOf } from "../proposals/proposal-store.ts";
import { findReadableLfsObjects } from "../proposals/proposed-files.ts";
import { lfsStorage } from "../storage/storages.ts";
import { LFS_LEFTOVER_HOURS } from "../sweep-lfs-leftovers.ts";
import { type Actions, downloadActions, type TransferKind, uploadActions, uploadKind, xetActions } from "./transfer-actions.ts";
import { type Uploader, uploaderOf } from "./uploader.ts";

/** Current clients send at most 256. */
export const OBJECTS_MAX = 1_000;
/** How many objects are answered at once: the URLs of some require a request to the bucket. */
const AT_ONCE = 16;
const MB = 1_000_000;
const ALGORITHMS = ["sha256", "sha_256"];

/** A batch request of valid shape. Oids and sizes are checked one by one, since each object gets its own answer. */
type Batch = {
  operation: "download" | "upload";
  transfers?: readonly string[];
  hashAlgorithm?: string;
  objects: readonly { oid: unknown; size: unknown }[];
  /** The ref that an upload is for, if the client has named it. */
  ref?: string | undefined;
};

type BatchAnswer = { transfer: TransferKind | "xet"; objects: BatchObject[]; hash_algo: "sha256" };
type BatchObject = { oid: string; size: number; authenticated?: true; actions?: Actions; error?: ObjectError };
type ObjectError = { code: 404 | 410 | 422; message: string };

/**
 * Answers, for each object, where to download or upload it (Git LFS batch API, version 1). Objects that this repository has need no upload;
 * those of other repositories do, because knowing a hash proves nothing. Uploads by people who may not write here are for
 * their pull requests (proposal-store.ts).
 * @throws ServiceError as `findRepo` and `uploadTargetOf`; `forbidden` for a read-only repository; `conflict` for an unsupported hash or a
 * repository that is hosted elsewhere; `payload_too_large`; `storage_full` if not all of it fits, since a push that lacks one file is
 * useless
 */
export async function answerLfsBatch(actor: Actor, name: RepoName, batch: Batch): Promise<BatchAnswer> {
  const isUpload = batch.operation === "upload";
  const repo = await findRepo(actor, name, isUpload ? "repo.read" : "repo.read_content");
  const target = isUpload ? await uploadTargetOf(actor, repo, batch.ref) : repo;
  if (repo.platformId) throw conflict("This repository is hosted on another platform. Use its URL there.");
  if (isUpload) requireChangeable(repo);
  if (!ALGORITHMS.includes(batch.hashAlgorithm ?? "sha256")) throw conflict("Only the hash algorithm sha256 is supported.");
  if (batch.objects.length > OBJECTS_MAX) {
    throw new ServiceError("payload_too_large", `Request at most ${OBJECTS_MAX.toLocaleString("en")} objects at once.`);
  }
  const transfer: TransferKind | "xet" = isUpload ? uploadKind(batch.transfers ?? []) : "basic";
  const wanted = [...new Map(batch.objects.map((object) => [object.oid, object])).values()];
  const oids = wanted.map(({ oid }) => oid).filter(isLfsOid);
  const stored = isUpload ? await findLfsObjects([repo.id, target.id], oids) : await findReadableLfsObjects(repo.id, oids);
  if (isUpload) await requireRoomFor(target, wanted, stored, transfer);
  const isAnyMissing = wanted.some(({ oid }) => isLfsOid(oid) && !stored.has(oid));
  const uploader = isUpload && isAnyMissing ? await uploaderOf(actor) : undefined;
  const objects: BatchObject[] = [];
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE);
    objects.push(
      ...(await Promise.all(some.map((object) => answerObject(target, object, stored, { isUpload, transfer, uploader })))),
    );
  }
  return { transfer, objects, hash_algo: "sha256" };
}

/**
 * Storage for content that passes through us is reserved when its upload begins. For direct uploads it is reserved now, until the object is
 * recorded or the sweep deletes it (sweep-lfs-leftovers.ts).
 */
async function requireRoomFor(
  repo: Repo,
  wanted: Batch["objects"],
  stored: ReadonlyMap<string, StoredLfsObject>,
  kind: TransferKind | "xet",
): Promise<void> {
  const coming = wanted.filter(
    (object): object is LfsObjectId => isLfsOid(object.oid) && !stored.has(object.oid) && isAllowedSize(object.size),
  );
  const bytes = coming.reduce((sum, { size }) => sum + countedBytes(size), 0);
  if (bytes === 0) return;
  const what = coming.length === 1 ? "this file" : `these ${coming.length} files`;
  // How much of it is new is not known yet: storage is reserved as each xorb arrives.
  if (kind === "xet") return requireRoom(repo.owner, 1, what);
  if (!lfsStorage().direct) return requireRoom(repo.owner, bytes, what);
  const party = currentParty().key;
  // An empty file has no parts: its storage is reserved when it is recorded.
  const uploads = coming
    .filter(({ size }) => size > 0)
    .map((object) => ({ id: uploadHoldId({ ...object, repoId: repo.id, kind, party }), bytes: countedBytes(object.size) }));
  return holdUploads(repo.owner, uploads, { seconds: (LFS_LEFTOVER_HOURS + 1) * 3_600, what });
}

const isAllowedSize = (size: unknown): boolean => isLfsSize(size) && size <= env().LFS_MAX_OBJECT_MB * MB;

async function answerObject(
  repo: Repo,
  { oid, size }: Batch["objects"][number],
  stored: ReadonlyMap<string, StoredLfsObject>,
  { isUpload, transfer, uploader }: { isUpload: boolean; transfer: TransferKind | "xet"; uploader: Uploader | undefined },
): Promise<BatchObject> {
  // The answer echoes oid and size only if they are a string and a number: any other value might not even convert to a string (S51).
  const refuse = (code: ObjectError["code"], message: string): BatchObject => ({
    oid: typeof oid === "string" ? oid : "",
    size: typeof size === "number" ? size : 0,
    error: { code, message },
  });
  if (!isLfsOid(oid)) return refuse(422, "An oid is a SHA-256 of 64 lower-case hexadecimal digits.");
  if (!isLfsSize(size)) return refuse(422, "A size is a whole number of bytes.");
  const found = stored.get(oid);
  if (found && found.size !== size)
    return refuse(422, `This object has ${found.size} bytes, not the announced ${size}. Correct its pointer file.`);
  if (!isUpload) {
    if (!found) return refuse(404, "This repository does not have the object.");
    return { oid, size, authenticated: true, actions: await downloadActions(repo, found) };
  }
  if (found) return { oid, size, authenticated: true };
  if (!isAllowedSize(size)) return refuse(422, `A file can be at most ${env().LFS_MAX_OBJECT_MB.toLocaleString("en")} MB.`);
  if (transfer === "xet") return { oid, size, authenticated: true, actions: xetActions(repo, uploader) };
  return { oid, size, authenticated: true, actions: await uploadActions(repo, { oid, size }, { kind: transfer, uploader }) };
}
