import { type Actor, actorId } from "../../access/actor.ts";
import { throttleKey } from "../../accounts/throttle.ts";
import { pool } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { type Hold, holdStorage, quotaOf } from "../../storage/hold-storage.ts";
import type { StorageOwner } from "../../storage/limits.ts";
import type { Repo } from "../repos/repo.ts";

const GB = 1_000_000_000;
const WINDOW_SECONDS = 30 * 24 * 3_600;
const KIB = 1024;

export const authorShare = async (owner: StorageOwner): Promise<number> =>
  shareOf((await quotaOf(owner)) ?? Number.POSITIVE_INFINITY) / 4;

const shareOf = (quota: number): number => Math.min(GB, quota / 20);

export const proposalRefusal = ({ handle }: StorageOwner, what: string): ServiceError =>
  new ServiceError(
    "storage_full",
    `Pull requests from others can use only a small part of the storage of ${handle}, and that part has no space for ${what}. Ask for permission to push, or try again later.`,
  );

/** Proposals use the owner's storage. Without limits, strangers could block the owner's own pushes (decision 076). */
export async function holdProposal(actor: Actor, { id, owner }: Repo, bytes: number, what: string): Promise<Hold> {
  const quota = (await quotaOf(owner)) ?? Number.POSITIVE_INFINITY;
  const share = shareOf(quota);
  const limits: [kind: string, subject: string, most: number][] = [
    ["proposed-author", `${owner.id} ${actorId(actor) ?? ""}`, share / 4],
    ["proposed-repo", id, share],
    ["proposed-owner", owner.id, quota / 4],
  ];
  const hold = await holdStorage(owner, bytes, what, { isOutsider: true });
  const amount = Math.ceil(bytes / KIB);
  const counted: string[] = [];
  for (const [kind, subject, most] of limits) {
    const key = throttleKey(kind, subject);
    if (await count(key, amount, most / KIB)) {
      counted.push(key);
      continue;
    }
    await Promise.all([hold.release(), giveBack(counted, amount)]);
    throw proposalRefusal(owner, what);
  }
  return hold;
}

/** A proposal that one share refuses must not use up the other shares. */
async function giveBack(keys: readonly string[], amount: number): Promise<void> {
  await pool().query("UPDATE throttle SET count = greatest(count - $2::int, 0) WHERE key = ANY($1)", [keys, amount]);
}

/** One statement checks and counts, so that parallel proposals see each other. */
async function count(key: string, amount: number, most: number): Promise<boolean> {
  if (amount > most) return false;
  if (most === Number.POSITIVE_INFINITY) return true;
  const { rowCount } = await pool().query({
    name: "count-proposed",
    text: `INSERT INTO throttle AS t (key, count, reset_at) VALUES ($1, $2::int, now() + make_interval(secs => $4))
           ON CONFLICT (key) DO UPDATE SET
             count = CASE WHEN t.reset_at <= now() THEN excluded.count ELSE t.count + excluded.count END,
             reset_at = CASE WHEN t.reset_at <= now() THEN excluded.reset_at ELSE t.reset_at END
           WHERE t.reset_at <= now() OR t.count + excluded.count <= $3`,
    values: [key, amount, Math.floor(Math.min(most, 2 ** 31 - 1)), WINDOW_SECONDS],
  });
  return rowCount === 1;
}
