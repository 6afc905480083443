import { availableParallelism } from "node:os";
import { fairQueue } from "../../fair-queue/fair-queue.ts";

/** A caller with a slot may wait only in queues further down this list, which prevents deadlocks (S137). */

const cores = availableParallelism();

export const REQUEST_MEMORY_BYTES = 128 * 1024;
export const requestMemory = fairQueue({ name: "git_request_memory", slots: 256 });

/** Requests without memory are stored on disk until they have been answered. */
export const largeRequests = fairQueue({ name: "git_large_requests", slots: 16 });

/** A slot is taken until the client has read the response. */
export const fetches = fairQueue({ name: "git_fetches", slots: Math.max(48, cores * 12), waitMaxMs: 30_000 });

/** A push waits longer for a slot than a slow push may keep one (PUSH_WANTED_GRACE_MS). */
export const pushes = fairQueue({ name: "git_pushes", slots: Math.max(24, cores * 6), waitMaxMs: 90_000 });

/** Each file is a git process for as long as a client reads. */
export const downloads = fairQueue({ name: "git_downloads", slots: 64, waitMaxMs: 30_000 });

/** A page with pictures requests many objects at once, so these requests may wait for long. */
export const objectReads = fairQueue({ name: "git_objects", slots: 32, waitingMax: 256, waitMaxMs: 30_000 });

/** A request waits longer for a slot than a walk may take (WALK_MAX_MS). */
export const walks = fairQueue({ name: "git_walks", slots: Math.max(8, cores * 4), waitMaxMs: 30_000 });
