/** A difference between two commits, as people read it. */
export type Diff = {
  files: DiffFile[];
  /** Of all files, those beyond what is shown included; `isCut` says whether there may be more still. */
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
  /** Of what was renamed or copied. */
  oldPath: string | null;
  /** Octal; null where there was or is no file. */
  oldMode: string | null;
  newMode: string | null;
  oldOid: string | null;
  newOid: string | null;
  /** Lines; 0 of a binary file. */
  additions: number;
  deletions: number;
  isBinary: boolean;
  hunks: DiffHunk[];
  /** Whether lines were left out because there are too many. */
  isCut: boolean;
};

export type DiffHunk = {
  /** What git found the hunk to be in: the name of a function. */
  heading: string;
  lines: DiffLine[];
};

export type DiffLine = {
  kind: "context" | "added" | "deleted";
  /** From 1; null on the side that does not have the line. */
  oldNumber: number | null;
  newNumber: number | null;
  text: string;
  /** Whether no line break ends it: the last of a file. */
  isUnended?: true;
};

/** How many lines of a file there are to show. */
export function shownLines({ hunks }: DiffFile): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
