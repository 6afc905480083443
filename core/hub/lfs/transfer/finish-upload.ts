import { db } from "../../../db.ts";
import { conflict, invalidRequest, isServiceError, ServiceError } from "../../../errors.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { log, requestContext } from "../../../log.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { findLfsObject } from "../objects/find-lfs-object.ts";
import {
  lockLfsLocation,
  markJoining,
  noteLfsLeftover,
  recordLfsObject,
  requireWritableRepo,
  storeLfsObject,
  uploadHoldId,
} from "../objects/record-lfs-object.ts";
import { lfsStorage, storageOf } from "../storage/storages.ts";
import type { Transfer } from "./transfer-authorization.ts";

type UploadedPart = { partNumber: number; etag: string };

export async function verifyUpload(transfer: Transfer, { oid, size }: LfsObjectId): Promise<void> {
  if (oid !== transfer.oid || size !== transfer.size) throw invalidRequest("This is not the requested object.");
  const { location } = transfer;
  await finishOnce(transfer, async () => {
    if (!location) throw new ServiceError("not_found", "Nothing was uploaded.");
    const holdId = uploadHoldId({ ...transfer, party: transfer.party, kind: "basic" });
    await recordVerified(transfer, location, { isFinal: false, holdId });
  });
}

export async function completeUpload(transfer: Transfer, parts: readonly UploadedPart[]): Promise<void> {
  const { repoId, oid, size, location, uploadId, party } = transfer;
  const finish = async () => {
    if (size === 0) return storeLfsObject(repoId, { oid, size }, emptyContent());
    if (!location || !uploadId) throw invalidRequest("This upload has no parts.");
    const holdId = await markJoining(location, uploadHoldId({ repoId, oid, size, kind: "multipart", party }));
    await directOf(location).joinParts(location, uploadId, parts);
    await recordVerified(transfer, location, { isFinal: true, holdId });
  };
  const forget = async () => location && uploadId && removeUnlessNeeded(location, { party, isFinal: true });
  await finishOnce(transfer, finish, forget);
}

const running = new Map<string, Promise<void>>();

/** Concurrent requests share a result, because each may read 50 GB (S137). `ifPresent` runs instead if the object exists. */
async function finishOnce(
  { repoId, oid, location }: Transfer,
  finish: () => Promise<void>,
  ifPresent?: () => Promise<unknown>,
): Promise<void> {
  const key = location ?? `${repoId} ${oid}`;
  const first = running.get(key);
  if (first) return first;
  const work = outsideRequest(async () => {
    if (await findLfsObject(repoId, oid)) await ifPresent?.();
    else await finish();
  }).finally(() => running.delete(key));
  running.set(key, work);
  return work;
}

/** Continues if the first client disconnects, because other requests may wait for the result. */
function outsideRequest<T>(work: () => Promise<T>): Promise<T> {
  const request = requestContext.getStore();
  if (!request) return work();
  const { whenClosed, mustYield, ...rest } = request;
  return requestContext.run(rest, work);
}

const REFUSALS = ["storage_full", "invalid_request", "not_found", "forbidden"];

async function recordVerified(
  { repoId, oid, size, party }: Transfer,
  location: string,
  { isFinal, holdId }: { isFinal: boolean; holdId: string },
): Promise<void> {
  // Checked before the content is read, because anybody with the URL can repeat this request (S137).
  await requireWritableRepo(db(), repoId);
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
    // No new upload can use this content, and the sweep would leave it for two days.
    if (isServiceError(error) && REFUSALS.includes(error.code)) {
      for (const each of new Set([verified ?? location, location])) await removeUnlessNeeded(each, { party, isFinal });
    }
    throw error;
  }
  if (verified === undefined) throw new ServiceError("not_found", "Nothing was uploaded.");
}

/** Each deletion holds a database connection, and together they must not use up the pool (S137). */
const removals = fairQueue({ name: "lfs_removals", slots: 2, waitMaxMs: 60_000, waitingMax: 1_000 });

/** Unless `isFinal`, the upload's URLs still work. So its leftover row and its reservation stay. */
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
  if (!direct) throw conflict("The upload method has changed. Request the transfer again.");
  return direct;
}

async function* emptyContent(): AsyncGenerator<Uint8Array> {}
