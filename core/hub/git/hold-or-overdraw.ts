import { consumeBytes, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { isServiceError } from "../../errors.ts";
import { type Hold, holdStorage } from "../../storage/hold-storage.ts";
import type { StorageOwner } from "../../storage/limits.ts";

/** How far a merge or a commit without new content may exceed the quota. */
export const FREE_BYTES = 64 * 1024;
/** Even a deletion writes new folders to git, so all changes above the quota share a limit (S137). */
const OVERDRAFT: ThrottleLimit = { limit: 256 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };

export async function holdOrOverdraw(owner: StorageOwner, bytes: number, what: string): Promise<Hold | undefined> {
  return holdStorage(owner, bytes, what).catch(async (error: unknown) => {
    if (!isServiceError(error) || error.code !== "storage_full") throw error;
    await consumeBytes(throttleKey("storage-overdraft", owner.id), bytes, OVERDRAFT).catch(() => Promise.reject(error));
    return undefined;
  });
}
