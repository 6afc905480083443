import { totalmem } from "node:os";
import { join } from "node:path";
import { env } from "../../../env.ts";

const MIB = 1024 * 1024;
/** What a push unpacks to, beside what it is as it is sent. */
const UNPACKED_TIMES = 8;

/** A transfer that takes longer than this is ended, whatever it is doing. */
export const TRANSFER_MAX_MS = 6 * 60 * 60 * 1000;

/** What a fetch asks for is lines: what it wants and what it has. */
export const FETCH_REQUEST_MAX_BYTES = 64 * MIB;

export const fileMaxBytes = (): number => env().GIT_MAX_FILE_MB * MIB;
export const pushMaxBytes = (): number => env().GIT_MAX_PUSH_MB * MIB;
export const unpackedMaxBytes = (): number => pushMaxBytes() * UNPACKED_TIMES;

/** Branches, tags and pull requests are all that there is; what a later version keeps elsewhere is hidden from this one (S137). */
const visibleRefs = [
  "transfer.hideRefs=refs",
  "transfer.hideRefs=!refs/heads",
  "transfer.hideRefs=!refs/tags",
  "transfer.hideRefs=!refs/pr",
];

/** One process must not take all the memory, and not a second core: it is others that use the other ones. */
const thrift = ["pack.windowMemory=64m", "pack.threads=1", "core.packedGitLimit=512m", "core.packedGitWindowSize=32m"];

/**
 * The filters that visit each object once. `sparse:oid`, and any that combines others, goes through every path instead: a few objects
 * unfold to as many as somebody likes (S137). A tree is visited again for each depth that it is found at.
 */
const filters = [
  "uploadpack.allowFilter=true",
  "uploadpackfilter.allow=false",
  ...["blob:none", "blob:limit", "tree", "object:type"].map((filter) => `uploadpackfilter.${filter}.allow=true`),
  "uploadpackfilter.tree.maxDepth=16",
];

/** The memory of the machine, or of the container that this process runs in. */
const machineBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/** Far above what clones of large repositories take, and never more than a part of the machine. */
export const fetchLimits = {
  ...{ isLimited: true, niceness: 19, cpuSeconds: 1_800 },
  memoryMiB: Math.round(Math.min(3_072, Math.max(1_024, machineBytes / 2 / MIB))),
} as const;

/** What all fetches may hold of it together, beside what they map of packs (fetch-memory.ts). */
export const FETCH_MEMORY_BYTES = machineBytes / 4;

export const fetchSettings = (): string[] => [
  ...visibleRefs,
  ...thrift,
  ...filters,
  // Partial clones ask for single objects later. Version 2 of the protocol answers that whatever is set here, so older ones are
  // answered too. A commit of a pull request is reachable by its ref in any case: pages and the API say so where one is shown.
  "uploadpack.allowAnySHA1InWant=true",
];

/** @param maxBytes of what is sent; git stops taking it in beyond */
export const pushSettings = (hooks: "plain" | "forward", maxBytes = pushMaxBytes()): string[] => [
  ...visibleRefs,
  ...thrift,
  `core.hooksPath=${join(import.meta.dirname, "hooks", hooks)}`,
  "receive.advertisePushOptions=true",
  "receive.autogc=false",
  "receive.denyDeleteCurrent=ignore",
  "receive.fsckObjects=true",
  `receive.maxInputSize=${maxBytes}`,
  // Larger files are read piece by piece, so that memory has nothing to do with what somebody sends.
  `core.bigFileThreshold=${Math.min(env().GIT_MAX_FILE_MB, 16)}m`,
  // An event that says that something was pushed outlives a power failure, and so does what was pushed.
  "core.fsync=objects,derived-metadata,reference",
  "core.fsyncMethod=batch",
];
