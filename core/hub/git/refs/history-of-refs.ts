import type { EventPayload } from "@keyhook/sdk";
import type { Db } from "../../../db.ts";
import type { RefChange } from "./ref-change.ts";

/** Far above what one repository sees while one of its changes waits to be found out. */
const EVENTS_MAX = 2_000;

/** What is recorded of a repository's refs since a point in time: by ref, in order. */
export type RefHistory = Map<string, RefChange[]>;

export async function readRefHistory(tx: Db, repoId: string, since: Date): Promise<RefHistory> {
  const events = await tx.event.findMany({
    where: { repoId, scope: "repo.content", createdAt: { gte: since } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: EVENTS_MAX,
    select: { payload: true },
  });
  const history: RefHistory = new Map();
  for (const { payload } of events) {
    for (const change of (payload as Extract<EventPayload, { updatedRefs: unknown }>).updatedRefs) {
      history.set(change.ref, [...(history.get(change.ref) ?? []), change]);
    }
  }
  return history;
}

/** Whether this very change is recorded already. */
export function isRecorded(history: RefHistory, { ref, oldSha, newSha }: RefChange): boolean {
  return (history.get(ref) ?? []).some((one) => one.oldSha === oldSha && one.newSha === newSha);
}

/**
 * Whether a change that was asked for has happened and nobody has recorded it. What is recorded of a ref is a chain from value to
 * value, up to what the ref is now: the change has happened if there is a gap in it into which it fits.
 */
export function hasHappened(history: RefHistory, asked: RefChange, now: string | null): boolean {
  const { ref, oldSha, newSha } = asked;
  if (oldSha === newSha || isRecorded(history, asked)) return false;
  const chain = history.get(ref) ?? [];
  return [...chain, { ref, oldSha: now, newSha: now }].some(
    (next, index) => next.oldSha === newSha && (index === 0 || chain[index - 1]?.newSha === oldSha),
  );
}
