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

/** What an author's proposals to one owner may take: no push of theirs is larger. */
export const authorShare = async (owner: StorageOwner): Promise<number> =>
  shareOf((await quotaOf(owner)) ?? Number.POSITIVE_INFINITY) / 4;

const shareOf = (quota: number): number => Math.min(GB, quota / 20);

export const proposalRefusal = ({ handle }: StorageOwner, what: string): ServiceError =>
  new ServiceError(
    "storage_full",
    `There is no room for ${what} in the storage of ${handle}. What others propose may take only a small part of it. Ask them to let you push.`,
  );

/**
 * Puts room aside for what somebody brings who may only propose. It lies in the owner's storage, so a stranger could fill that up and stop
 * the owner's own pushes: proposals get a small share in 30 days (decision 076), of each repository, each author and each owner.
 * @throws ServiceError `storage_full`, without the owner's numbers
 */
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

/** What was refused for one share has used up no other one. */
async function giveBack(keys: readonly string[], amount: number): Promise<void> {
  await pool().query("UPDATE throttle SET count = greatest(count - $2::int, 0) WHERE key = ANY($1)", [keys, amount]);
}

/** In one statement, so that parallel proposals see each other. What is refused must not use up others' share, so it is not added. */
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
