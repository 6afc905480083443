import { availableParallelism } from "node:os";
import { fairQueue } from "../../fair-queue/fair-queue.ts";

/**
 * The places for git's work in this process (S137). Whoever holds a place in one queue may wait in a later one of this list, never in
 * an earlier one or the same: so nobody waits for somebody who waits for them.
 */

const cores = availableParallelism();

/** What a request of a fetch may use of memory while it arrives and is answered: with 256 places, 32 MiB of the process. */
export const REQUEST_MEMORY_BYTES = 128 * 1024;
export const requestMemory = fairQueue({ name: "git_request_memory", places: 256 });

/** Requests of fetches that get no memory: on disk while they arrive and are answered. */
export const largeRequests = fairQueue({ name: "git_large_requests", places: 16 });

/** Clones and fetches. Somebody may have the answer for as long as it takes to read it. */
export const fetches = fairQueue({ name: "git_fetches", places: Math.max(48, cores * 12), waitMaxMs: 30_000 });

/** Pushes: apart from fetches, so that neither can stop the other. Everybody who pushes is signed in. One waits for longer than a slow one may keep its place (PUSH_WANTED_GRACE_MS). */
export const pushes = fairQueue({ name: "git_pushes", places: Math.max(24, cores * 6), waitMaxMs: 90_000 });

/** Files too large for memory that are sent as they are. Each is a git process for as long as somebody reads. */
export const downloads = fairQueue({ name: "git_downloads", places: 64, waitMaxMs: 30_000 });

/** Objects that are looked up, which takes milliseconds. A page with pictures asks for many at once. One waits for longer than a lookup may take (git-objects.ts). */
export const objectReads = fairQueue({ name: "git_objects", places: 32, waitingMax: 256, waitMaxMs: 30_000 });

/** History, differences and merges: work for the processor, up to a deadline. One waits for longer than a walk may take (WALK_MAX_MS). */
export const walks = fairQueue({ name: "git_walks", places: Math.max(8, cores * 4), waitMaxMs: 30_000 });
