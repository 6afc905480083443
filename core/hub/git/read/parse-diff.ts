import type { DiffFile, DiffHunk, DiffLine, FileStatus } from "./diff.ts";
import { PATH_MAX_BYTES } from "./tree-entries.ts";

const statuses: Record<string, FileStatus> = {
  A: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "type-changed",
};
// The format is `:<old mode> <new mode> <old oid> <new oid> <status><similarity>`.
const RAW = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([A-Z])\d*$/;
const NUMBERS = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/;

/** Parses `git diff-tree --raw -z`. Call `push` with each text between NULs until it returns true. */
export class RawDiff {
  readonly files: DiffFile[] = [];
  #expected: "record" | "old path" | "path" | "old number path" | "number path" = "record";
  #counted = 0;

  push(token: string): boolean {
    const file = this.files.at(-1);
    switch (this.#expected) {
      case "record":
        return this.#startRecord(token);
      case "old path":
        if (file) file.oldPath = shownPath(token);
        this.#expected = "path";
        return false;
      case "path":
        if (file) file.path = shownPath(token);
        this.#expected = "record";
        return false;
      case "old number path":
        this.#expected = "number path";
        return false;
      case "number path":
        this.#expected = "record";
        return false;
    }
  }

  #startRecord(token: string): boolean {
    const raw = RAW.exec(token);
    if (raw) {
      const [, oldMode, newMode, oldOid, newOid, letter = ""] = raw as unknown as string[];
      const status = statuses[letter] ?? "modified";
      this.files.push({
        status,
        path: "",
        oldPath: null,
        oldMode: presentMode(oldMode),
        newMode: presentMode(newMode),
        oldOid: presentOid(oldOid),
        newOid: presentOid(newOid),
        additions: 0,
        deletions: 0,
        isBinary: false,
        hunks: [],
        isCut: false,
      });
      this.#expected = status === "renamed" || status === "copied" ? "old path" : "path";
      return false;
    }
    const [, additions, deletions, path] = NUMBERS.exec(token) ?? [];
    if (additions === undefined) return true;
    const file = this.files[this.#counted++];
    if (file) {
      file.isBinary = additions === "-";
      file.additions = Number(additions) || 0;
      file.deletions = Number(deletions) || 0;
    }
    if (path === "") this.#expected = "old number path";
    return false;
  }
}

/** A cut name is longer than every whole name, so no file can imitate it. */
const shownPath = (path: string): string =>
  Buffer.byteLength(path) > PATH_MAX_BYTES ? `${Buffer.from(path).toString("utf8", 0, PATH_MAX_BYTES)}…` : path;

const presentMode = (mode = ""): string | null => (mode === "000000" ? null : mode);
const presentOid = (oid = ""): string | null => (/^0+$/.test(oid) ? null : oid);

type PatchLimits = {
  fileLines: number;
  lines: number;
  lineCharacters: number;
  characters: number;
};

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/** Identifies files by their order, because the names in a patch can contain anything. */
export class Patches {
  readonly #files: readonly DiffFile[];
  readonly #limits: PatchLimits;
  #at = -1;
  #patchesLeft = 0;
  #isInHunk = false;
  #hunk: DiffHunk | undefined;
  #old = 0;
  #new = 0;
  #fileLines = 0;
  #lines = 0;
  #characters = 0;

  constructor(files: readonly DiffFile[], limits: PatchLimits) {
    this.#files = files;
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#lines >= this.#limits.lines || this.#characters >= this.#limits.characters;
  }

  cutRest(): void {
    for (const file of this.#files.slice(Math.max(this.#at, 0))) if (!file.isBinary && hasContentChanged(file)) file.isCut = true;
  }

  push(line: string): void {
    if (line.startsWith("diff --git ")) this.#startPatch();
    else if (line.startsWith("@@ ")) this.#startHunk(line);
    else if (this.#isInHunk) this.#addLine(line);
  }

  #startPatch(): void {
    this.#isInHunk = false;
    this.#patchesLeft--;
    if (this.#patchesLeft > 0) return;
    this.#at++;
    this.#fileLines = 0;
    this.#patchesLeft = this.#files[this.#at]?.status === "type-changed" ? 2 : 1;
  }

  #startHunk(line: string): void {
    const [, oldStart, newStart, heading = ""] = HUNK.exec(line) ?? [];
    this.#isInHunk = oldStart !== undefined;
    this.#old = Number(oldStart);
    this.#new = Number(newStart);
    this.#hunk = { heading: cut(heading, 200), lines: [] };
    const file = this.#files[this.#at];
    if (file && this.#hasRoom()) file.hunks.push(this.#hunk);
    else if (file) file.isCut = true;
  }

  #addLine(line: string): void {
    const last = this.#hunk?.lines.at(-1);
    if (line.startsWith("\\")) {
      if (last) last.isUnended = true;
      return;
    }
    const kind = kinds[line[0] ?? ""];
    const file = this.#files[this.#at];
    if (!kind || !file) return;
    const oldNumber = kind === "added" ? null : this.#old++;
    const newNumber = kind === "deleted" ? null : this.#new++;
    if (!this.#hasRoom()) {
      file.isCut = true;
      return;
    }
    this.#fileLines++;
    this.#lines++;
    const text = cut(line.slice(1), this.#limits.lineCharacters);
    this.#characters += text.length;
    this.#hunk?.lines.push({ kind, oldNumber, newNumber, text });
  }

  #hasRoom(): boolean {
    return this.#fileLines < this.#limits.fileLines && !this.isFull;
  }
}

const kinds: Record<string, DiffLine["kind"]> = { " ": "context", "+": "added", "-": "deleted" };

const hasContentChanged = ({ oldOid, newOid }: DiffFile): boolean => oldOid !== newOid;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text);
