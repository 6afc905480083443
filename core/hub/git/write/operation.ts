import { env } from "../../../env.ts";
import type { Content } from "./start-import.ts";

/**
 * One thing that a commit does, in the words of the wire (docs/specification/repositories-and-git.md#commits-over-the-api). They are
 * done in their order.
 */
export type Operation =
  /** Adds a file, or replaces what is in it. */
  | { type: "file"; path: string; content: Content }
  /** The same with a file that was uploaded by Git LFS: its SHA-256 and its size in bytes. */
  | { type: "lfsFile"; path: string; oid: string; sizeBytes?: number }
  | { type: "deletedFile"; path: string }
  | { type: "deletedFolder"; path: string }
  /** Whichever of the two it is. */
  | { type: "deletedEntry"; path: string }
  /** Puts what is at `from.path` of a revision, by default of the branch itself, at `path`. */
  | { type: "copyFile"; path: string; from: { path: string; revision?: string } };

/** More than this does not fit into one commit (S138). */
export const OPERATIONS_MAX = 25_000;
export const PATHS_MAX_BYTES = 8 * 1024 * 1024;
const FILE_MAX_MB = 10;

/** A larger file belongs into Git LFS; in bytes. An operator may allow pushes of less. */
export const fileMaxBytes = (): number => Math.min(FILE_MAX_MB, env().GIT_MAX_FILE_MB) * 1024 * 1024;
