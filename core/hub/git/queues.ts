import { availableParallelism } from "node:os";
import { fairQueue } from "../../fair-queue/fair-queue.ts";

/**
 * The slots for git's work in this process (S137). The holder of a slot in one queue may wait in a later queue of this list, never in an
 * earlier one or the same: this prevents deadlocks.
 */

const cores = availableParallelism();

/** The memory that a request of a fetch may use while it arrives and is answered: with 256 slots, 32 MiB of the process. */
export const REQUEST_MEMORY_BYTES = 128 * 1024;
export const requestMemory = fairQueue({ name: "git_request_memory", places: 256 });

/** Requests of fetches that get no memory: they are on disk while they arrive and are answered. */
export const largeRequests = fairQueue({ name: "git_large_requests", places: 16 });

/** Clones and fetches. A client may take as long as it needs to read the response. */
export const fetches = fairQueue({ name: "git_fetches", places: Math.max(48, cores * 12), waitMaxMs: 30_000 });

/** Pushes: apart from fetches, so that neither blocks the other. All who push are signed in. They wait longer than a slow push may keep its slot (PUSH_WANTED_GRACE_MS). */
export const pushes = fairQueue({ name: "git_pushes", places: Math.max(24, cores * 6), waitMaxMs: 90_000 });

/** Files too large for memory, which are streamed. Each is a git process for as long as a client reads. */
export const downloads = fairQueue({ name: "git_downloads", places: 64, waitMaxMs: 30_000 });

/** Object lookups, which take milliseconds. A page with pictures asks for many at once. They wait longer than a lookup may take (git-objects.ts). */
export const objectReads = fairQueue({ name: "git_objects", places: 32, waitingMax: 256, waitMaxMs: 30_000 });

/** History, diffs and merges: work for the processor, up to a deadline. They wait longer than a walk may take (WALK_MAX_MS). */
export const walks = fairQueue({ name: "git_walks", places: Math.max(8, cores * 4), waitMaxMs: 30_000 });
