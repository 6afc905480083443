import { env } from "../env.ts";

/**
 * The kinds of stored data. `git` and `lfs` are the users' own data: one quota covers both, and uploads above it are refused. The other
 * kinds are records of relays, jobs and deliveries. Each of these has its own limit, so that a busy webhook never blocks a push.
 */
export const storageKinds = ["git", "lfs", "relay", "logs", "attempts"] as const;
export type StorageKind = (typeof storageKinds)[number];

/** The owner of the repository, the run or the webhook, even if somebody else uploads to it. */
export type StorageOwner = { kind: "user" | "organization"; id: string; handle: string };

const MB = 1_000_000;
const GB = 1_000_000_000;

/** What a repository counts besides its objects: git's folder of an empty one takes this much on disk (prisma/migrations, repo_bytes). */
export const REPOSITORY_BYTES = 36_864;

/** What an attempt of a delivery counts besides its URL and the response. */
export const ATTEMPT_BYTES = 500;

/** Null means no limit. */
const orNone = (limit: number): number | null => (limit === 0 ? null : limit);

/** How much an owner may store in repositories, unless an operator has set another limit. */
export function defaultQuota(kind: StorageOwner["kind"]): number | null {
  return orNone((kind === "user" ? env().STORAGE_USER_GB : env().STORAGE_ORGANIZATION_GB) * GB);
}

export function recordsLimit(kind: "relay" | "logs" | "attempts"): number | null {
  const { STORAGE_RELAY_MB, STORAGE_LOGS_MB, STORAGE_ATTEMPTS_MB } = env();
  return orNone({ relay: STORAGE_RELAY_MB, logs: STORAGE_LOGS_MB, attempts: STORAGE_ATTEMPTS_MB }[kind] * MB);
}
