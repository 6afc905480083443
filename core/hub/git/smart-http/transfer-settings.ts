import { totalmem } from "node:os";
import { join } from "node:path";
import { env } from "../../../env.ts";

const MIB = 1024 * 1024;
const UNPACKED_TIMES = 8;

export const TRANSFER_MAX_MS = 6 * 60 * 60 * 1000;

export const FETCH_REQUEST_MAX_BYTES = 64 * MIB;

export const fileMaxBytes = (): number => env().GIT_MAX_FILE_MB * MIB;
export const pushMaxBytes = (): number => env().GIT_MAX_PUSH_MB * MIB;
export const unpackedMaxBytes = (): number => pushMaxBytes() * UNPACKED_TIMES;

/** Hides all other refs, even those that a later version may store (S137). */
const visibleRefs = [
  "transfer.hideRefs=refs",
  "transfer.hideRefs=!refs/heads",
  "transfer.hideRefs=!refs/tags",
  "transfer.hideRefs=!refs/pr",
];

const memoryConfig = ["pack.windowMemory=64m", "pack.threads=1", "core.packedGitLimit=512m", "core.packedGitWindowSize=32m"];

/** Any other filter walks every path, and a few objects can unfold to any number of paths (S137). */
const filters = [
  "uploadpack.allowFilter=true",
  "uploadpackfilter.allow=false",
  ...["blob:none", "blob:limit", "tree", "object:type"].map((filter) => `uploadpackfilter.${filter}.allow=true`),
  "uploadpackfilter.tree.maxDepth=16",
];

/** The memory of the machine, or of this process's container. */
const machineBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

export const fetchLimits = {
  ...{ isLimited: true, niceness: 19, cpuSeconds: 1_800 },
  memoryMiB: Math.round(Math.min(3_072, Math.max(1_024, machineBytes / 2 / MIB))),
} as const;

export const FETCH_MEMORY_BYTES = machineBytes / 4;

export const fetchSettings = (): string[] => [
  ...visibleRefs,
  ...memoryConfig,
  ...filters,
  // Partial clones need this. Protocol version 2 always allows it.
  "uploadpack.allowAnySHA1InWant=true",
];

export const pushSettings = (hooks: "plain" | "forward", maxBytes = pushMaxBytes()): string[] => [
  ...visibleRefs,
  ...memoryConfig,
  `core.hooksPath=${join(import.meta.dirname, "hooks", hooks)}`,
  "receive.advertisePushOptions=true",
  "receive.autogc=false",
  "receive.denyDeleteCurrent=ignore",
  "receive.fsckObjects=true",
  `receive.maxInputSize=${maxBytes}`,
  // The memory must not depend on the size of pushed files.
  `core.bigFileThreshold=${Math.min(env().GIT_MAX_FILE_MB, 16)}m`,
  // A push's event survives a power failure, so the pushed data must survive too.
  "core.fsync=objects,derived-metadata,reference",
  "core.fsyncMethod=batch",
];
