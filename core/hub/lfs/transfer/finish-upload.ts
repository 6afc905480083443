import { db } from "../../../db.ts";
import { isServiceError, ServiceError } from "../../../errors.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { log, requestContext } from "../../../log.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { findLfsObject } from "../objects/find-lfs-object.ts";
import {
  lockLfsLocation,
  noteJoining,
  noteLfsLeftover,
  recordLfsObject,
  requireOpen,
  uploadHoldId,
} from "../objects/record-lfs-object.ts";
import { storeLfsObject } from "../objects/store-lfs-object.ts";
import { lfsStorage, storageOf } from "../storage/storages.ts";
import type { Transfer } from "./transfer-authorization.ts";

/** A part of an upload, as the client saw it arrive. */
export type UploadedPart = { partNumber: number; etag: string };

/**
 * What a client says after an upload, with what it thinks that it uploaded. Content that it brought to the bucket is looked at now and
 * counts only from here on; content that came through us is the repository's already.
 * @throws ServiceError `not_found` when nothing was uploaded, `invalid_request` when it was something else
 */
export async function verifyUpload(transfer: Transfer, { oid, size }: LfsObjectId): Promise<void> {
  if (oid !== transfer.oid || size !== transfer.size) {
    throw new ServiceError("invalid_request", "This is not the object that was to be uploaded.");
  }
  const { location } = transfer;
  await once(transfer, async () => {
    if (!location) throw new ServiceError("not_found", "Nothing was uploaded.");
    const holdId = uploadHoldId({ ...transfer, party: transfer.party, kind: "basic" });
    await recordVerified(transfer, location, { isFinal: false, holdId });
  });
}

/**
 * Joins the parts of an upload, whose addresses are worth nothing from then on, and makes sure that the whole is what its hash says.
 * @throws ServiceError `invalid_request` when it is not, or parts are missing
 */
export async function completeUpload(transfer: Transfer, parts: readonly UploadedPart[]): Promise<void> {
  const { repoId, oid, size, location, uploadId, party } = transfer;
  const finish = async () => {
    if (size === 0) return storeLfsObject(repoId, { oid, size }, emptyContent());
    if (!location || !uploadId) throw new ServiceError("invalid_request", "This upload has no parts.");
    const holdId = await noteJoining(location, uploadHoldId({ repoId, oid, size, kind: "multipart", party }));
    await directOf(location).joinParts(location, uploadId, parts);
    await recordVerified(transfer, location, { isFinal: true, holdId });
  };
  // Somebody else's upload of it came first: this one is over too, and its addresses are worth nothing any more.
  const forget = async () => location && uploadId && removeUnlessNeeded(location, { party, isFinal: true });
  await once(transfer, finish, forget);
}

const underWay = new Map<string, Promise<void>>();

/**
 * Finishes an upload unless the repository has the object. Whoever asks meanwhile is answered with what comes of it: each would have
 * the whole object read from the bucket, 50 GB at most (S137).
 * @param whenThere what is done instead
 */
async function once(
  { repoId, oid, location }: Transfer,
  finish: () => Promise<void>,
  whenThere?: () => Promise<unknown>,
): Promise<void> {
  const key = location ?? `${repoId} ${oid}`;
  const first = underWay.get(key);
  if (first) return first;
  const work = beyondRequest(async () => {
    if (await findLfsObject(repoId, oid)) await whenThere?.();
    else await finish();
  }).finally(() => underWay.delete(key));
  underWay.set(key, work);
  return work;
}

/** Runs `work` apart from the request that began it: others wait for the same work, and it goes on when the first client hangs up. */
function beyondRequest<T>(work: () => Promise<T>): Promise<T> {
  const request = requestContext.getStore();
  if (!request) return work();
  const { whenClosed, yields, ...rest } = request;
  return requestContext.run(rest, work);
}

/** There is no room for it, it is something else, or its repository is gone or closed. */
const REFUSALS = ["storage_full", "invalid_request", "not_found", "forbidden"];

async function recordVerified(
  { repoId, oid, size, party }: Transfer,
  location: string,
  { isFinal, holdId }: { isFinal: boolean; holdId: string },
): Promise<void> {
  // Anybody with an address can ask as often as they like. So asking alone stores nothing and removes nothing (S137).
  await requireOpen(db(), repoId);
  const newSpare = async () => {
    const spare = lfsStorage().newLocation(repoId, oid);
    await noteLfsLeftover(spare);
    return spare;
  };
  let verified: string | undefined;
  try {
    verified = await directOf(location).verify(location, { oid, size }, { newSpare: isFinal ? undefined : newSpare, party });
    if (verified !== undefined) await recordLfsObject(repoId, { oid, size }, verified, { holdId });
  } catch (error) {
    // The sweep would come in two days; until then it would take room, and whoever uploads it again has to begin anew.
    if (isServiceError(error) && REFUSALS.includes(error.code)) {
      for (const each of new Set([verified ?? location, location])) await removeUnlessNeeded(each, { party, isFinal });
    }
    throw error;
  }
  if (verified === undefined) throw new ServiceError("not_found", "Nothing was uploaded.");
}

/** Each removal holds a database connection while the bucket answers: together they must not hold the whole pool (S137). */
const removals = fairQueue({ name: "lfs_removals", places: 2, waitMaxMs: 60_000, waitingMax: 1_000 });

/**
 * Under the lock, since the same upload may be finished twice at once, and counted the second time. What cannot be removed now is on the
 * sweep's list.
 * @param options.isFinal whether nothing more can arrive there: then the room that was held for the upload is given back. While its address
 * is still good, the room stays held
 */
async function removeUnlessNeeded(
  location: string,
  { party, isFinal }: { party: string | undefined; isFinal: boolean },
): Promise<void> {
  const remove = () =>
    db().$transaction(async (tx) => {
      await lockLfsLocation(tx, location);
      if ((await tx.lfsObject.count({ where: { location } })) > 0) return;
      if (!isFinal) return storageOf(location).remove(location);
      const leftover = await tx.lfsLeftover.findUnique({ where: { location } });
      if (!leftover) return;
      await tx.lfsLeftover.delete({ where: { location } });
      if (leftover.holdId !== null) await tx.storageHold.deleteMany({ where: { id: leftover.holdId } });
      await storageOf(location).remove(location, leftover.uploadId);
    });
  await removals
    .run(remove, party === undefined ? {} : { party: { key: party, isAnonymous: false } })
    .catch((err: unknown) => log().warn({ err, location }, "an upload that was refused is not removed yet"));
}

function directOf(location: string) {
  const { direct } = storageOf(location);
  if (!direct) throw new ServiceError("conflict", "Uploads go another way now. Ask for the transfer again.");
  return direct;
}

async function* emptyContent(): AsyncGenerator<Uint8Array> {}
