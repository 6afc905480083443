import { db, inTransaction } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { newId } from "../../ids.ts";
import { log } from "../../log.ts";
import { holdStorage, settleUpload } from "../../storage/hold-storage.ts";
import { countedBytes } from "../lfs/lfs-object.ts";
import { lockLfsLocation, noteLfsLeftover, requireWritableRepo } from "../lfs/objects/record-lfs-object.ts";
import type { ReceivedContent } from "../lfs/storage/lfs-storage.ts";
import { lfsStorage, storageOf } from "../lfs/storage/storages.ts";
import type { Repo } from "../repos/repo.ts";
import { XORB_MAX_BYTES } from "./check-xorb.ts";
import { checkXorb } from "./chunk-threads.ts";

/** Somebody could store many xorbs of a single byte, so the row counts too. */
const ROW_BYTES = 400;

/** Each upload holds a file or a connection, and a part of a thread's time. A slow sender loses its slot to others (S137). */
const uploads = fairQueue({ name: "xet_xorbs", slots: 24, waitMaxMs: 90_000 });

/**
 * Each repository stores its own xorbs, so that nobody learns which ones another repository has (S145).
 * @param mayStill checks the right again after the upload
 * @returns false if the repository already has the xorb
 */
export async function storeXorb(
  repo: Repo,
  { hash, size }: { hash: string; size: number },
  { content, mayStill }: { content: AsyncIterable<Uint8Array>; mayStill: () => Promise<unknown> },
): Promise<boolean> {
  if (size > XORB_MAX_BYTES) {
    throw new ServiceError("payload_too_large", `A xorb can be at most ${XORB_MAX_BYTES} bytes.`);
  }
  if ((await db().xetXorb.count({ where: { repoId: repo.id, hash } })) > 0) return false;
  await uploads.takeUntilAnswered({ within: repo.id });
  const hold = await holdStorage(repo.owner, countedBytes(size), "this file");
  // The location has an ID of its own, because the hash of a xorb does not determine its bytes.
  const location = lfsStorage().newLocation(repo.id, `${hash}-${newId()}`);
  let received: ReceivedContent | undefined;
  let isFirst = false;
  try {
    await noteLfsLeftover(location);
    const checked = { chunks: new Uint8Array() };
    received = await lfsStorage().receive(location, { size }, checkXorb(content, hash, checked));
    await mayStill();
    isFirst = await recordXorb(repo.id, { hash, size, location, ...checked }, { received, holdId: hold.id });
    return isFirst;
  } finally {
    if (!isFirst) await forget(location, received);
    await hold.release();
  }
}

async function recordXorb(
  repoId: string,
  { hash, size, location, chunks }: { hash: string; size: number; location: string; chunks: Uint8Array },
  { received, holdId }: { received: ReceivedContent; holdId: string },
): Promise<boolean> {
  const sizeBytes = countedBytes(size) + chunks.length + ROW_BYTES;
  return inTransaction(async (tx) => {
    await lockLfsLocation(tx, location);
    await tx.$executeRaw`SELECT FROM repo WHERE id = ${repoId} FOR KEY SHARE`;
    const repo = await requireWritableRepo(tx, repoId);
    if ((await tx.xetXorb.count({ where: { repoId, hash } })) > 0) return false;
    await settleUpload(tx, repo.owner, holdId, sizeBytes);
    const row = { repoId, hash, location, hasHeaders: true, startsAt: 0, sizeBytes, chunks: Uint8Array.from(chunks) };
    const { count } = await tx.xetXorb.createMany({ data: [row], skipDuplicates: true });
    if (count === 0) return false;
    // `inTransaction` may repeat this function, and `keep` cannot be repeated, so `keep` comes late.
    await received.keep();
    await tx.lfsLeftover.delete({ where: { location } });
    return true;
  });
}

/** A transaction with an unknown outcome may have recorded the upload. */
async function forget(location: string, received: ReceivedContent | undefined): Promise<void> {
  try {
    const isRecorded = await inTransaction(async (tx) => {
      await lockLfsLocation(tx, location);
      return (await tx.xetXorb.count({ where: { location } })) > 0;
    });
    if (isRecorded) return;
    await received?.discard();
    await storageOf(location).remove(location);
    await db().lfsLeftover.deleteMany({ where: { location } });
  } catch (err) {
    log().warn({ err, location }, "an upload that was refused is not removed yet");
  }
}
