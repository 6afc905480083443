/** A diff between two commits, for people. */
export type Diff = {
  files: DiffFile[];
  /** The numbers for all files, including those not shown; if `isCut`, there may be even more. */
  fileCount: number;
  additions: number;
  deletions: number;
  /** Whether anything was left out. */
  isCut: boolean;
};

export type FileStatus = "added" | "deleted" | "modified" | "renamed" | "copied" | "type-changed";

export type DiffFile = {
  status: FileStatus;
  path: string;
  /** For a renamed or copied file. */
  oldPath: string | null;
  /** Octal; null on the side where the file does not exist. */
  oldMode: string | null;
  newMode: string | null;
  oldOid: string | null;
  newOid: string | null;
  /** Lines; 0 for a binary file, and if no lines were read. */
  additions: number;
  deletions: number;
  isBinary: boolean;
  hunks: DiffHunk[];
  /** Whether lines were left out because there are too many. */
  isCut: boolean;
};

export type DiffHunk = {
  /** The place of the hunk as git reports it, such as the name of a function. */
  heading: string;
  lines: DiffLine[];
};

export type DiffLine = {
  kind: "context" | "added" | "deleted";
  /** From 1; null on the side that lacks the line. */
  oldNumber: number | null;
  newNumber: number | null;
  text: string;
  /** Whether the line is the last of a file and has no line break. */
  isUnended?: true;
};

/** How many lines of a file can be shown. */
export function shownLines({ hunks }: DiffFile): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
