import { env } from "../env.ts";

/** One quota covers `git` and `lfs`. Each other kind has its own limit, so that a busy webhook never blocks a push. */
export const storageKinds = ["git", "lfs", "relay", "logs", "attempts"] as const;
export type StorageKind = (typeof storageKinds)[number];

export type StorageOwner = { kind: "user" | "organization"; id: string; handle: string };

const MB = 1_000_000;
const GB = 1_000_000_000;

/** git's folder of an empty repository takes this much on disk. */
export const REPOSITORY_BYTES = 36_864;

export const ATTEMPT_BYTES = 500;

const orNone = (limit: number): number | null => (limit === 0 ? null : limit);

export function defaultQuota(kind: StorageOwner["kind"]): number | null {
  return orNone((kind === "user" ? env().STORAGE_USER_GB : env().STORAGE_ORGANIZATION_GB) * GB);
}

export function recordsLimit(kind: "relay" | "logs" | "attempts"): number | null {
  const { STORAGE_RELAY_MB, STORAGE_LOGS_MB, STORAGE_ATTEMPTS_MB } = env();
  return orNone({ relay: STORAGE_RELAY_MB, logs: STORAGE_LOGS_MB, attempts: STORAGE_ATTEMPTS_MB }[kind] * MB);
}
