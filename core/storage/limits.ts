import { env } from "../env.ts";

/**
 * What takes room. `git` and `lfs` are what people keep here: together they have a quota, and what goes beyond it is refused. The
 * others are records of what happened: each has a limit of its own, so that a talkative webhook never stands in the way of a push.
 */
export const storageKinds = ["git", "lfs", "relay", "logs", "attempts"] as const;
export type StorageKind = (typeof storageKinds)[number];

/** Whose room it is: whoever owns the repository, the run or the webhook, whoever else uploads to it. */
export type StorageOwner = { kind: "user" | "organization"; id: string; handle: string };

const MB = 1_000_000;
const GB = 1_000_000_000;

/** Null is without limit. */
const orNone = (limit: number): number | null => (limit === 0 ? null : limit);

/** What an owner may store in repositories, unless an operator has set something else for them. */
export function defaultQuota(kind: StorageOwner["kind"]): number | null {
  return orNone((kind === "user" ? env().STORAGE_USER_GB : env().STORAGE_ORGANIZATION_GB) * GB);
}

export function recordsLimit(kind: "relay" | "logs" | "attempts"): number | null {
  const { STORAGE_RELAY_MB, STORAGE_LOGS_MB, STORAGE_ATTEMPTS_MB } = env();
  return orNone({ relay: STORAGE_RELAY_MB, logs: STORAGE_LOGS_MB, attempts: STORAGE_ATTEMPTS_MB }[kind] * MB);
}
