import { availableParallelism } from "node:os";
import { fairQueue } from "../../fair-queue/fair-queue.ts";

/** To prevent deadlocks, a caller with a slot waits only in queues further down this list (S137). */

const cores = availableParallelism();

export const REQUEST_MEMORY_BYTES = 128 * 1024;
export const requestMemory = fairQueue({ name: "git_request_memory", slots: 256 });

export const largeRequests = fairQueue({ name: "git_large_requests", slots: 16 });

/** A slot is held until the client has read the response. */
export const fetches = fairQueue({ name: "git_fetches", slots: Math.max(48, cores * 12), waitMaxMs: 30_000 });

/** A push waits longer than PUSH_CONTENDED_GRACE_MS, for which a slow push may keep its slot. */
export const pushes = fairQueue({ name: "git_pushes", slots: Math.max(24, cores * 6), waitMaxMs: 90_000 });

/** Each slot is for a git process, which runs as long as a client reads. */
export const downloads = fairQueue({ name: "git_downloads", slots: 64, waitMaxMs: 30_000 });

/** A page with pictures requests many objects at once, so many requests may wait. */
export const objectReads = fairQueue({ name: "git_objects", slots: 32, waitingMax: 256, waitMaxMs: 30_000 });

/** A walk waits longer than WALK_MAX_MS, for which another walk may keep its slot. */
export const walks = fairQueue({ name: "git_walks", slots: Math.max(8, cores * 4), waitMaxMs: 30_000 });
