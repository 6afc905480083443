import { type Db, db, inTransaction, pool } from "../db.ts";
import { env } from "../env.ts";
import { ServiceError } from "../errors.ts";
import { newId } from "../ids.ts";
import { log } from "../log.ts";
import { readableSize } from "../readable-size.ts";
import { defaultQuota, type StorageOwner } from "./limits.ts";

export type Hold = { id: string; release(): Promise<void> };

const LEASE_SECONDS = 90;
const RENEW_MS = 30_000;

/**
 * Call this before you accept the bytes, and release the reservation when they are counted (docs/decisions/076).
 * @param what names the bytes in the refusal, such as `this push`
 * @param options.isOutsider an outsider does not learn how much others store
 */
export async function holdStorage(owner: StorageOwner, bytes: number, what: string, { isOutsider = false } = {}): Promise<Hold> {
  const id = newId();
  const room = await requestStorage(db(), owner, [{ id, bytes }], LEASE_SECONDS);
  if (!room.isHeld) throw isOutsider ? outsiderRefusal(owner, what) : refusal(owner, room, bytes, what);
  if (held.size === 0) renewing = setInterval(() => void renew(), RENEW_MS).unref();
  held.add(id);
  return {
    id,
    async release() {
      held.delete(id);
      if (held.size === 0) clearInterval(renewing);
      await pool()
        .query("DELETE FROM storage_hold WHERE id = $1", [id])
        .catch((err: unknown) => log().warn({ err }, "a storage reservation could not be released; it will expire"));
    },
  };
}

/** A reservation's ID is the object's name. */
export async function holdUploads(
  owner: StorageOwner,
  uploads: readonly { id: string; bytes: number }[],
  { seconds, what, tx = db() }: { seconds: number; what: string; tx?: Db },
): Promise<void> {
  const room = await requestStorage(tx, owner, uploads, seconds);
  if (!room.isHeld) throw refusal(owner, room, total(uploads), what);
}

/** Each announced upload to a bucket occupies rows for two days, and its removal costs a request to the bucket (S137). */
export const ANNOUNCED_MAX = 20_000;

export async function holdAnnounced(
  owner: StorageOwner,
  uploads: readonly { id: string; bytes: number }[],
  options: { seconds: number; what: string },
): Promise<void> {
  await inTransaction(async (tx) => {
    // This locks the owner's storage, so that announcements at the same time are all counted.
    await holdUploads(owner, uploads, { ...options, tx });
    const where = { ownerId: owner.id, isRemoved: false, expiresAt: { gt: new Date() } };
    if ((await tx.storageHold.count({ where })) <= ANNOUNCED_MAX) return;
    const most = ANNOUNCED_MAX.toLocaleString("en");
    const sentence = `At most ${most} large files can be on their way to ${owner.handle} at the same time. Finish uploads that you have begun, or try again in two days.`;
    throw new ServiceError("storage_full", sentence);
  });
}

/** Continues to count deleted bytes until the sweep has removed them from storage, as for a deleted repository (decision 076). */
export async function holdRemoved(tx: Db, owner: Pick<StorageOwner, "id">, bytes: number): Promise<void> {
  if (bytes <= 0) return;
  await tx.$executeRaw`INSERT INTO storage_hold (id, owner_id, bytes, is_removed, expires_at)
    VALUES (${`removed ${newId()}`}, ${owner.id}, ${BigInt(bytes)}, true, now() + interval '49 hours')`;
}

/** If this is called in the transaction that stores the bytes, no other upload gets this storage. */
export async function requireRoom(
  owner: StorageOwner,
  bytes: number,
  what: string,
  { tx = db(), isOutsider = false }: { tx?: Db; isOutsider?: boolean } = {},
): Promise<void> {
  const room = await requestStorage(tx, owner, [], 0, bytes);
  if (!room.isHeld) throw isOutsider ? outsiderRefusal(owner, what) : refusal(owner, room, bytes, what);
}

export async function roomOf(owner: StorageOwner): Promise<number | undefined> {
  const { quota, used, held, removed } = await requestStorage(db(), owner, [], 0, 0);
  if (quota === null) return undefined;
  return Math.max(0, Math.min(quota - used - held, 2 * quota - used - held - removed));
}

export async function quotaOf(owner: StorageOwner): Promise<number | null> {
  return (await requestStorage(db(), owner, [], 0, 0)).quota;
}

type Room = { isHeld: boolean; used: number; held: number; removed: number; quota: number | null };

const total = (uploads: readonly { bytes: number }[]): number => uploads.reduce((sum, { bytes }) => sum + bytes, 0);

async function requestStorage(
  tx: Db,
  owner: StorageOwner,
  holds: readonly { id: string; bytes: number }[],
  seconds: number,
  wanted = total(holds),
): Promise<Room> {
  const [ids, bytes] = [holds.map(({ id }) => id), holds.map((hold) => BigInt(hold.bytes))];
  const [room] = await tx.$queryRaw<Room[]>`
    SELECT is_held AS "isHeld", used::float8 AS used, held::float8 AS held, removed::float8 AS removed, quota::float8 AS quota
      FROM hold_storage(${owner.id}, ${ids}::text[], ${bytes}::bigint[], ${BigInt(wanted)}::bigint,
                        ${defaultQuota(owner.kind)}::bigint, ${seconds}::float8)`;
  return room as Room;
}

const outsiderRefusal = ({ handle }: StorageOwner, what: string): ServiceError =>
  new ServiceError("storage_full", `The storage of ${handle} has no space for ${what}. Ask ${handle} to free some.`);

/**
 * The storage is checked again, because the quota or the owner may have changed. If the file is smaller than
 * announced, the rest stays reserved, because the client can still upload to the signed URL.
 */
export async function settleUpload(tx: Db, owner: StorageOwner, id: string, bytes: number): Promise<void> {
  await holdUploads(owner, [{ id, bytes }], { seconds: 1, what: "this file", tx });
  await tx.storageHold.deleteMany({ where: { id, bytes: { lte: bytes } } });
  await tx.storageHold.updateMany({ where: { id }, data: { bytes: { decrement: bytes } } });
}

function refusal(
  { kind, handle }: StorageOwner,
  { used, held: uploading, removed, quota }: Room,
  bytes: number,
  what: string,
): ServiceError {
  const most = quota ?? 0;
  const underWay = uploading > 0 ? `, with ${readableSize(uploading)} more being uploaded` : "";
  const state = `${handle} uses ${readableSize(used)} of ${readableSize(most)} of storage${underWay}.`;
  // A request for one byte only checks whether any storage is left.
  const size = bytes > 1 ? ` (${readableSize(bytes)})` : "";
  const need = ` There is no room for ${what}${size}.`;
  const page = `${env().ORIGIN}${kind === "user" ? "/settings/storage" : `/organizations/${handle}/settings/storage`}`;
  const isBeingRemoved = used + uploading + bytes <= most && removed > 0;
  const advice = isBeingRemoved
    ? ` ${readableSize(removed)} of deleted files are still being removed from the disk: try again in two days.`
    : ` Delete repositories that you no longer need, or ask the operator of this service for more: ${page}`;
  return new ServiceError("storage_full", state + need + advice);
}

const held = new Set<string>();
let renewing: NodeJS.Timeout | undefined;

async function renew(): Promise<void> {
  try {
    const extend = "UPDATE storage_hold SET expires_at = now() + make_interval(secs => $2) WHERE id = ANY ($1)";
    await pool().query(extend, [[...held], LEASE_SECONDS]);
  } catch (err) {
    log().warn({ err }, "storage reservations could not be renewed; trying again");
  }
}
