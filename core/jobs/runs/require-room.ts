import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";

/** An owner's waiting and running runs, whoever or whatever requested them. */
export const OPEN_RUNS_MAX_PER_OWNER = 200;

/** Whether an owner may have another run. Without a lock: several concurrent callers may each be told that there is room. */
export async function hasRoom(db: Db, ownerId: string): Promise<boolean> {
  return (await countOpen(db, ownerId)) < OPEN_RUNS_MAX_PER_OWNER;
}

/** The same for the run, in the transaction that creates it. @throws ServiceError `rate_limited` */
export async function requireRoom(tx: Db, owner: { id: string; handle?: string }): Promise<void> {
  // One after another, so that the next count is right.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`runs ${owner.id}`}, 0))`;
  const open = await countOpen(tx, owner.id);
  if (open < OPEN_RUNS_MAX_PER_OWNER) return;
  const sentence = `${open} jobs${owner.handle ? ` of ${owner.handle}` : ""} wait or run. Cancel some, or wait until they are done.`;
  throw new ServiceError("rate_limited", sentence, { retryAfterSeconds: 60 });
}

const countOpen = (db: Db, ownerId: string): Promise<number> => db.jobRun.count({ where: { ownerId, finishedAt: null } });
