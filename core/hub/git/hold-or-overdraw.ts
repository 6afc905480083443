import { consumeBytes, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { isServiceError } from "../../errors.ts";
import { type Hold, holdStorage } from "../../storage/hold-storage.ts";
import type { StorageOwner } from "../../storage/limits.ts";

/** A commit without new content and a merge may add this much beyond the quota. */
export const FREE_BYTES = 64 * 1024;
/** Limits what a day's free changes add beyond the quota, because each deletion writes a folder anew (S137). */
const OVERDRAFT: ThrottleLimit = { limit: 256 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };

/** For a change that may free storage. */
export async function holdOrOverdraw(owner: StorageOwner, bytes: number, what: string): Promise<Hold | undefined> {
  return holdStorage(owner, bytes, what).catch(async (error: unknown) => {
    if (!isServiceError(error) || error.code !== "storage_full") throw error;
    await consumeBytes(throttleKey("storage-overdraft", owner.id), bytes, OVERDRAFT).catch(() => Promise.reject(error));
    return undefined;
  });
}
