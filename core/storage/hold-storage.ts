import { type Db, db, pool } from "../db.ts";
import { env } from "../env.ts";
import { ServiceError } from "../errors.ts";
import { newId } from "../ids.ts";
import { log } from "../log.ts";
import { readableSize } from "../readable-size.ts";
import { defaultQuota, type StorageOwner } from "./limits.ts";

/** Bytes that are about to be stored. Released when they are counted, or when nothing came of them. */
export type Hold = { id: string; release(): Promise<void> };

/** A process that lives renews its holds; what a killed one held is free again after this. */
const LEASE_SECONDS = 90;
const RENEW_MS = 30_000;

/**
 * Puts room aside for bytes that are about to be stored in a repository, so that uploads at the same time cannot get past the quota
 * together (docs/decisions/076). Ask before the bytes are taken, and release it once they are counted.
 * @param what they are, for the refusal: `this push`
 * @param options.isOutsider for somebody who may only propose changes: how much others store is not for them
 * @throws ServiceError `storage_full`, which says how much is used and what to do
 */
export async function holdStorage(owner: StorageOwner, bytes: number, what: string, { isOutsider = false } = {}): Promise<Hold> {
  const id = newId();
  const room = await askForRoom(db(), owner, [{ id, bytes }], LEASE_SECONDS);
  if (!room.isHeld) throw isOutsider ? outsiderRefusal(owner, what) : refusal(owner, room, bytes, what);
  if (room.quota === null) return { id, release: async () => undefined };
  if (held.size === 0) renewing = setInterval(() => void renew(), RENEW_MS).unref();
  held.add(id);
  return {
    id,
    async release() {
      held.delete(id);
      if (held.size === 0) clearInterval(renewing);
      // What cannot be given back now is free when the lease ends.
      await pool()
        .query("DELETE FROM storage_hold WHERE id = $1", [id])
        .catch((err: unknown) => log().warn({ err }, "a hold on storage cannot be released; it will expire"));
    },
  };
}

/**
 * The same for uploads that others take: clients that were given addresses in a bucket. Each is held under the name of its object until
 * that is recorded, or as long as its address is good.
 */
export async function holdUploads(
  owner: StorageOwner,
  uploads: readonly { id: string; bytes: number }[],
  { seconds, what, tx = db() }: { seconds: number; what: string; tx?: Db },
): Promise<void> {
  const room = await askForRoom(tx, owner, uploads, seconds);
  if (!room.isHeld) throw refusal(owner, room, total(uploads), what);
}

/**
 * Makes sure that there is room for what comes, without putting any aside. In a transaction that stores it, no other upload gets the
 * room until that ends.
 * @throws ServiceError `storage_full`
 */
export async function requireRoom(
  owner: StorageOwner,
  bytes: number,
  what: string,
  { tx = db(), isOutsider = false }: { tx?: Db; isOutsider?: boolean } = {},
): Promise<void> {
  const room = await askForRoom(tx, owner, [], 0, bytes);
  if (!room.isHeld) throw isOutsider ? outsiderRefusal(owner, what) : refusal(owner, room, bytes, what);
}

/** How many bytes more an owner may store: at least 0; undefined is without limit. */
export async function roomOf(owner: StorageOwner): Promise<number | undefined> {
  const { quota, used, held, removed } = await askForRoom(db(), owner, [], 0, 0);
  if (quota === null) return undefined;
  return Math.max(0, Math.min(quota - used - held, 2 * quota - used - held - removed));
}

/** Null is without limit. */
export async function quotaOf(owner: StorageOwner): Promise<number | null> {
  return (await askForRoom(db(), owner, [], 0, 0)).quota;
}

type Room = { isHeld: boolean; used: number; held: number; removed: number; quota: number | null };

const total = (uploads: readonly { bytes: number }[]): number => uploads.reduce((sum, { bytes }) => sum + bytes, 0);

async function askForRoom(
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
  new ServiceError("storage_full", `There is no room for ${what} in the storage of ${handle}. Ask them to make some.`);

/**
 * Counts an upload that has arrived, in the transaction that records it: room is asked for once more, since the quota may be smaller by now,
 * the hold may have expired, and a repository that moved has an owner who was never asked. What the hold was for beyond these bytes stays
 * held: somebody has an address for it.
 * @throws ServiceError `storage_full`
 */
export async function settleUpload(tx: Db, owner: StorageOwner, id: string, bytes: number): Promise<void> {
  await holdUploads(owner, [{ id, bytes }], { seconds: 1, what: "this file", tx });
  await tx.storageHold.deleteMany({ where: { id, bytes: { lte: bytes } } });
  await tx.storageHold.updateMany({ where: { id }, data: { bytes: { decrement: bytes } } });
}

/** What those who may write to an owner's repositories are told when there is no room left. */
function refusal(
  { kind, handle }: StorageOwner,
  { used, held: uploading, removed, quota }: Room,
  bytes: number,
  what: string,
): ServiceError {
  const most = quota ?? 0;
  const underWay = uploading > 0 ? `, with ${readableSize(uploading)} more being uploaded` : "";
  const state = `${handle} uses ${readableSize(used)} of ${readableSize(most)} of storage${underWay}.`;
  // A single byte is asked for to find out whether there is any room at all.
  const size = bytes > 1 ? `, which needs ${readableSize(bytes)}` : "";
  const need = ` There is no room for ${what}${size}.`;
  const page = `${env().ORIGIN}${kind === "user" ? "/settings/storage" : `/organizations/${handle}/settings/storage`}`;
  const isBeingRemoved = used + uploading + bytes <= most && removed > 0;
  const advice = isBeingRemoved
    ? ` ${readableSize(removed)} that were deleted are still being removed from the disk: try again in two days.`
    : ` Delete repositories that are no longer needed, or ask whoever runs this service for more: ${page}`;
  return new ServiceError("storage_full", state + need + advice);
}

const held = new Set<string>();
let renewing: NodeJS.Timeout | undefined;

async function renew(): Promise<void> {
  try {
    const extend = "UPDATE storage_hold SET expires_at = now() + make_interval(secs => $2) WHERE id = ANY ($1)";
    await pool().query(extend, [[...held], LEASE_SECONDS]);
  } catch (err) {
    log().warn({ err }, "holds on storage cannot be renewed; trying again");
  }
}
