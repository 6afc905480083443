import { availableParallelism } from "node:os";
import { fairQueue } from "../../fair-queue/fair-queue.ts";

/** The slots for git's work (S137). A caller with a slot may wait only in queues further down this list, which prevents deadlocks. */

const cores = availableParallelism();

/** The memory that a request of a fetch may use while it arrives and is answered: with 256 slots, 32 MiB of the process. */
export const REQUEST_MEMORY_BYTES = 128 * 1024;
export const requestMemory = fairQueue({ name: "git_request_memory", slots: 256 });

/** Requests of fetches that get no memory: they are stored on disk until they have been answered. */
export const largeRequests = fairQueue({ name: "git_large_requests", slots: 16 });

/** Clones and fetches. A slot is taken until the client has read the response, which must not be too slow (with-transfer.ts). */
export const fetches = fairQueue({ name: "git_fetches", slots: Math.max(48, cores * 12), waitMaxMs: 30_000 });

/**
 * Pushes have a separate queue, so that pushes and fetches do not block each other. All pushes are authenticated. A push waits longer for
 * a slot than a slow push may keep one (PUSH_WANTED_GRACE_MS).
 */
export const pushes = fairQueue({ name: "git_pushes", slots: Math.max(24, cores * 6), waitMaxMs: 90_000 });

/** Files too large for memory, which are streamed. Each is a git process for as long as a client reads. */
export const downloads = fairQueue({ name: "git_downloads", slots: 64, waitMaxMs: 30_000 });

/** Object lookups, which take milliseconds. A page with pictures requests many at once, so they may wait for long (git-objects.ts). */
export const objectReads = fairQueue({ name: "git_objects", slots: 32, waitingMax: 256, waitMaxMs: 30_000 });

/** History, diffs and merges: work for the processor, up to a deadline. Each waits longer for a slot than a walk may take (WALK_MAX_MS). */
export const walks = fairQueue({ name: "git_walks", slots: Math.max(8, cores * 4), waitMaxMs: 30_000 });
