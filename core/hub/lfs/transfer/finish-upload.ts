import { db } from "../../../db.ts";
import { isServiceError, ServiceError } from "../../../errors.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { findLfsObject } from "../objects/find-lfs-object.ts";
import { lockLfsLocation, noteLfsLeftover, recordLfsObject } from "../objects/record-lfs-object.ts";
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
  const found = await findLfsObject(transfer.repoId, oid);
  if (found) return;
  if (!transfer.location) throw new ServiceError("not_found", "Nothing was uploaded.");
  await recordVerified(transfer, transfer.location, { isFinal: false });
}

/**
 * Joins the parts of an upload, whose addresses are worth nothing from then on, and makes sure that the whole is what its hash says.
 * @throws ServiceError `invalid_request` when it is not, or parts are missing
 */
export async function completeUpload(transfer: Transfer, parts: readonly UploadedPart[]): Promise<void> {
  const { repoId, oid, size, location, uploadId } = transfer;
  if (await findLfsObject(repoId, oid)) return;
  if (size === 0) return storeLfsObject(repoId, { oid, size }, emptyContent());
  if (!location || !uploadId) throw new ServiceError("invalid_request", "This upload has no parts.");
  await directOf(location).joinParts(location, uploadId, parts);
  await recordVerified(transfer, location, { isFinal: true });
}

async function recordVerified(
  { repoId, oid, size }: Transfer,
  location: string,
  { isFinal }: { isFinal: boolean },
): Promise<void> {
  const spare = isFinal ? location : lfsStorage().newLocation(repoId, oid);
  if (!isFinal) await noteLfsLeftover(spare);
  const verified = await directOf(location).verify(location, { oid, size }, { isFinal, spare });
  try {
    await recordLfsObject(repoId, { oid, size }, verified);
  } catch (error) {
    // The sweep would come in two days; until then it would take the very room that there is not.
    if (isServiceError(error) && error.code === "storage_full") {
      for (const each of new Set([verified, location])) await removeUnlessNeeded(each);
    }
    throw error;
  }
}

/** Under the lock, since the same upload may be finished twice at once, and counted the second time. */
async function removeUnlessNeeded(location: string): Promise<void> {
  await db().$transaction(async (tx) => {
    await lockLfsLocation(tx, location);
    if ((await tx.lfsObject.count({ where: { location } })) === 0) await storageOf(location).remove(location);
  });
}

function directOf(location: string) {
  const { direct } = storageOf(location);
  if (!direct) throw new ServiceError("conflict", "Uploads go another way now. Ask for the transfer again.");
  return direct;
}

async function* emptyContent(): AsyncGenerator<Uint8Array> {}
