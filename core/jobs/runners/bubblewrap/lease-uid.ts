import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { env } from "../../../env.ts";

export type UidLease = { uid: number; release(): void };

export class NoUidLeft extends Error {
  override name = "NoUidLeft";
}

/**
 * Two tasks with one UID could look into each other's processes. A lease is an abstract Unix socket, which the kernel frees when
 * the worker dies.
 * @throws NoUidLeft if all UIDs are leased
 */
export async function leaseUid(): Promise<UidLease> {
  const { first, last } = env().JOBS_UIDS;
  const count = last - first + 1;
  // The search begins at a random UID, because a process that is still ending may have the UID that was released last.
  const begin = randomInt(count);
  for (let i = 0; i < count; i++) {
    const lease = await take(first + ((begin + i) % count));
    if (lease) return lease;
  }
  throw new NoUidLeft(`all ${count} user IDs for jobs (JOBS_UIDS, ${first}-${last}) are in use`);
}

function take(uid: number): Promise<UidLease | undefined> {
  const holder = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve, reject) => {
    holder.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    holder.listen(`\0keyhook-uid-${uid}`, () => resolve({ uid, release: () => void holder.close() }));
  });
}
