import type { Actor } from "../../../access/actor.ts";
import { env } from "../../../env.ts";
import { conflict, ServiceError } from "../../../errors.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { countWork, currentParty } from "../../../fair-queue/party.ts";
import { holdAnnounced, requireRoom } from "../../../storage/hold-storage.ts";
import { requireChangeable } from "../../git/refs/require-changeable.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { canExist, countedBytes, isLfsOid, isLfsSize, type LfsObjectId } from "../lfs-object.ts";
import { findLfsObjects, type StoredLfsObject } from "../objects/find-lfs-object.ts";
import { uploadHoldId } from "../objects/record-lfs-object.ts";
import { uploadTargetOf } from "../proposals/proposal-store.ts";
import { findReadableLfsObjects } from "../proposals/proposed-files.ts";
import { lfsStorage } from "../storage/storages.ts";
import { LFS_LEFTOVER_HOURS } from "../sweep-lfs-leftovers.ts";
import { type Actions, downloadActions, type TransferKind, uploadActions, uploadKind, xetActions } from "./transfer-actions.ts";
import { type Uploader, uploaderOf } from "./uploader.ts";

export const OBJECTS_MAX = 1_000;
/** The URLs of some objects require a request to the bucket. */
const AT_ONCE = 16;
/** How long an object blocks the event loop: its URL, and its part of both bodies (S137). */
const OBJECT_MS = 0.1;
const MB = 1_000_000;
const ALGORITHMS = ["sha256", "sha_256"];

type Batch = {
  operation: "download" | "upload";
  transfers?: readonly string[];
  hashAlgorithm?: string;
  objects: readonly { oid: unknown; size: unknown }[];
  ref?: string | undefined;
};

type BatchAnswer = { transfer: TransferKind | "xet"; objects: BatchObject[]; hash_algo: "sha256" };
type BatchObject = { oid: string; size: number; authenticated?: true; actions?: Actions; error?: ObjectError };
type ObjectError = { code: 404 | 410 | 422; message: string };

/** S137: strangers can request many large downloads at once. Uploads take no slot, because they need an account. */
const downloads = fairQueue({ name: "lfs_downloads", slots: 1, waitMaxMs: 15_000, waitingMax: 1_000 });
/** git-lfs sends batches of this size. */
const FEW_OBJECTS = 100;

/**
 * The client must upload even an object of another repository: knowing a hash proves nothing.
 * @throws ServiceError `storage_full` if not all objects fit, because a push without one file is useless
 */
export function answerLfsBatch(actor: Actor, name: RepoName, batch: Batch): Promise<BatchAnswer> {
  const work = () => answerBatch(actor, name, batch);
  return batch.operation === "upload" || batch.objects.length <= FEW_OBJECTS ? work() : downloads.run(work);
}

async function answerBatch(actor: Actor, name: RepoName, batch: Batch): Promise<BatchAnswer> {
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
  countWork(batch.objects.length * OBJECT_MS);
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

/** If content passes through this service, storage is reserved only when the upload begins. */
async function requireRoomFor(
  repo: Repo,
  wanted: Batch["objects"],
  stored: ReadonlyMap<string, StoredLfsObject>,
  kind: TransferKind | "xet",
): Promise<void> {
  const coming = wanted
    .filter((object): object is LfsObjectId => isLfsOid(object.oid) && !stored.has(object.oid) && isAllowedSize(object.size))
    .filter(canExist);
  const bytes = coming.reduce((sum, { size }) => sum + countedBytes(size), 0);
  if (bytes === 0) return;
  const what = coming.length === 1 ? "this file" : `these ${coming.length} files`;
  // It is not known yet how much of the content is new.
  if (kind === "xet") return requireRoom(repo.owner, 1, what);
  if (!lfsStorage().direct) return requireRoom(repo.owner, bytes, what);
  const party = currentParty().key;
  const uploads = coming
    .filter(({ size }) => size > 0)
    .map((object) => ({ id: uploadHoldId({ ...object, repoId: repo.id, kind, party }), bytes: countedBytes(object.size) }));
  return holdAnnounced(repo.owner, uploads, { seconds: (LFS_LEFTOVER_HOURS + 1) * 3_600, what });
}

const isAllowedSize = (size: unknown): boolean => isLfsSize(size) && size <= env().LFS_MAX_OBJECT_MB * MB;

async function answerObject(
  repo: Repo,
  { oid, size }: Batch["objects"][number],
  stored: ReadonlyMap<string, StoredLfsObject>,
  { isUpload, transfer, uploader }: { isUpload: boolean; transfer: TransferKind | "xet"; uploader: Uploader | undefined },
): Promise<BatchObject> {
  // Any other value might not convert to a string (S51).
  const refuse = (code: ObjectError["code"], message: string): BatchObject => ({
    oid: typeof oid === "string" ? oid : "",
    size: typeof size === "number" ? size : 0,
    error: { code, message },
  });
  if (!isLfsOid(oid)) return refuse(422, "An oid is a SHA-256 of 64 lower-case hexadecimal digits.");
  if (!isLfsSize(size)) return refuse(422, "A size is a whole number of bytes.");
  if (!canExist({ oid, size })) return refuse(422, "The oid is not the SHA-256 of an empty file.");
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
