import type { EventPayload } from "@keyhook/sdk";
import type { Db } from "../../../db.ts";
import type { RefChange } from "./ref-change.ts";

/** Far above what happens in one repository while the outcome of a change is unknown. */
const EVENTS_MAX = 2_000;

/** The changes of a repository's refs recorded since a point in time: by ref, in order. */
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

/** Whether exactly this change is recorded already. */
export function isRecorded(history: RefHistory, { ref, oldSha, newSha }: RefChange): boolean {
  return (history.get(ref) ?? []).some((one) => one.oldSha === oldSha && one.newSha === newSha);
}

/**
 * Whether a requested change has happened without being recorded. The recorded changes of a ref form a chain from value to value, up to
 * its current value: the change has happened if the chain has a gap into which it fits.
 */
export function hasHappened(history: RefHistory, asked: RefChange, now: string | null): boolean {
  const { ref, oldSha, newSha } = asked;
  if (oldSha === newSha || isRecorded(history, asked)) return false;
  const chain = history.get(ref) ?? [];
  return [...chain, { ref, oldSha: now, newSha: now }].some(
    (next, index) => next.oldSha === newSha && (index === 0 || chain[index - 1]?.newSha === oldSha),
  );
}
