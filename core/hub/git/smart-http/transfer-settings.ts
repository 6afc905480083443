import { totalmem } from "node:os";
import { join } from "node:path";
import { env } from "../../../env.ts";

const MIB = 1024 * 1024;
/** How large a push may be when unpacked, as a multiple of the limit for its pack. */
const UNPACKED_TIMES = 8;

/** The maximum duration of a transfer. */
export const TRANSFER_MAX_MS = 6 * 60 * 60 * 1000;

/** The request of a fetch is lines: the commits that it wants and those that it has. */
export const FETCH_REQUEST_MAX_BYTES = 64 * MIB;

export const fileMaxBytes = (): number => env().GIT_MAX_FILE_MB * MIB;
export const pushMaxBytes = (): number => env().GIT_MAX_PUSH_MB * MIB;
export const unpackedMaxBytes = (): number => pushMaxBytes() * UNPACKED_TIMES;

/** Clients see only branches, tags and pull requests. All other refs are hidden, also those that a later version may store (S137). */
const visibleRefs = [
  "transfer.hideRefs=refs",
  "transfer.hideRefs=!refs/heads",
  "transfer.hideRefs=!refs/tags",
  "transfer.hideRefs=!refs/pr",
];

/** One process must not use all the memory, or more than one core, because other requests need them. */
const memoryConfig = ["pack.windowMemory=64m", "pack.threads=1", "core.packedGitLimit=512m", "core.packedGitWindowSize=32m"];

/**
 * The filters that visit each object once. `sparse:oid`, and filters that combine others, walk every path instead: a few objects can unfold
 * to any number of paths (S137). A tree is visited again for each depth at which it is found.
 */
const filters = [
  "uploadpack.allowFilter=true",
  "uploadpackfilter.allow=false",
  ...["blob:none", "blob:limit", "tree", "object:type"].map((filter) => `uploadpackfilter.${filter}.allow=true`),
  "uploadpackfilter.tree.maxDepth=16",
];

/** The memory of the machine, or of this process's container. */
const machineBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/** Far more than clones of large repositories need: half of the machine's memory, but at least 1 GiB and at most 3. */
export const fetchLimits = {
  ...{ isLimited: true, niceness: 19, cpuSeconds: 1_800 },
  memoryMiB: Math.round(Math.min(3_072, Math.max(1_024, machineBytes / 2 / MIB))),
} as const;

/** The memory that all fetches together may hold, besides the packs that they map (upload-pack.ts). */
export const FETCH_MEMORY_BYTES = machineBytes / 4;

export const fetchSettings = (): string[] => [
  ...visibleRefs,
  ...memoryConfig,
  ...filters,
  // Partial clones request single objects later. Protocol version 2 always allows that, so older versions allow it too. A commit
  // of a pull request is reachable by its ref anyway: pages and the API say so where they show such a commit.
  "uploadpack.allowAnySHA1InWant=true",
];

/** @param maxBytes the limit of the pack; git stops reading beyond it */
export const pushSettings = (hooks: "plain" | "forward", maxBytes = pushMaxBytes()): string[] => [
  ...visibleRefs,
  ...memoryConfig,
  `core.hooksPath=${join(import.meta.dirname, "hooks", hooks)}`,
  "receive.advertisePushOptions=true",
  "receive.autogc=false",
  "receive.denyDeleteCurrent=ignore",
  "receive.fsckObjects=true",
  `receive.maxInputSize=${maxBytes}`,
  // Larger files are read piece by piece, so that memory does not depend on the size of pushed files.
  `core.bigFileThreshold=${Math.min(env().GIT_MAX_FILE_MB, 16)}m`,
  // An event that reports a push survives a power failure, so the pushed data must as well.
  "core.fsync=objects,derived-metadata,reference",
  "core.fsyncMethod=batch",
];
