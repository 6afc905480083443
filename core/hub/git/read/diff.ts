export type Diff = {
  files: DiffFile[];
  /** These numbers include files that are not shown. If `isCut`, there may be even more files. */
  fileCount: number;
  additions: number;
  deletions: number;
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
  isCut: boolean;
};

export type DiffHunk = {
  /** For example, the name of a function. */
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

export function shownLines({ hunks }: DiffFile): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
