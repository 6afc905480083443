export type Diff = {
  files: DiffFile[];
  fileCount: number;
  additions: number;
  deletions: number;
  isCut: boolean;
};

export type FileStatus = "added" | "deleted" | "modified" | "renamed" | "copied" | "type-changed";

export type DiffFile = {
  status: FileStatus;
  path: string;
  oldPath: string | null;
  /** The mode is octal. Null on the side where the file does not exist. */
  oldMode: string | null;
  newMode: string | null;
  oldOid: string | null;
  newOid: string | null;
  additions: number;
  deletions: number;
  isBinary: boolean;
  hunks: DiffHunk[];
  isCut: boolean;
};

export type DiffHunk = {
  heading: string;
  lines: DiffLine[];
};

export type DiffLine = {
  kind: "context" | "added" | "deleted";
  /** Lines are numbered from 1. Null on the side that lacks the line. */
  oldNumber: number | null;
  newNumber: number | null;
  text: string;
  isUnended?: true;
};

export function shownLines({ hunks }: DiffFile): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
