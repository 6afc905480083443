import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { env } from "../../../env.ts";

export type UidLease = { uid: number; release(): void };

export class NoUidLeft extends Error {
  override name = "NoUidLeft";
}

/**
 * Leases a UID of this machine that no other task has at the same time: two tasks with the same UID could look into each other's processes,
 * and would share the kernel's count of them. A lease is an abstract Unix socket named after the UID: the kernel gives a name to one
 * process at a time, and frees it however that process ends. So a lease holds among all workers of this machine, of any installation, and
 * needs no sweep.
 * @throws NoUidLeft when every number of the range is in use
 */
export async function leaseUid(): Promise<UidLease> {
  const { first, last } = env().JOBS_UIDS;
  const count = last - first + 1;
  // Starts at a random number: a process that is still ending may have the one just released.
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
