import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { env } from "../../../env.ts";

export type UidLease = { uid: number; release(): void };

export class NoUserLeft extends Error {
  override name = "NoUserLeft";
}

/**
 * A user of this machine that no other task has at the same time: two with the same number could look into each other's processes, and
 * would share the kernel's count of them (L5). What holds a number is a socket of that name without a file: the kernel gives a name to one
 * process at a time, and takes it back when that ends, however it ends. So it holds between all workers of this machine, of whichever
 * installation, and nothing has to be swept up.
 * @throws NoUserLeft when each number of the range is in use
 */
export async function leaseUid(): Promise<UidLease> {
  const { first, last } = env().JOBS_UIDS;
  const count = last - first + 1;
  // From any number on: one that was just given back may still be that of a process that ends.
  const begin = randomInt(count);
  for (let i = 0; i < count; i++) {
    const lease = await take(first + ((begin + i) % count));
    if (lease) return lease;
  }
  throw new NoUserLeft(`all ${count} user numbers for jobs (JOBS_UIDS, ${first}-${last}) are in use`);
}

function take(uid: number): Promise<UidLease | undefined> {
  const holder = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve, reject) => {
    holder.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    holder.listen(`\0keyhook-uid-${uid}`, () => resolve({ uid, release: () => void holder.close() }));
  });
}
