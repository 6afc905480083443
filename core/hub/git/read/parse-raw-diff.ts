import type { DiffFile, FileStatus } from "./diff.ts";

const statuses: Record<string, FileStatus> = {
  A: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "type-changed",
};
// :<old mode> <new mode> <old oid> <new oid> <status><similarity>
const RAW = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([A-Z])\d*$/;
const NUMBERS = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/;

/**
 * Parses what `git diff-tree --raw --numstat -z` prints before any patch: names unchanged, whatever bytes they have. Call `push` with
 * each text between NULs; it returns true when that part is over.
 */
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
        if (file) file.oldPath = token;
        this.#expected = "path";
        return false;
      case "path":
        if (file) file.path = token;
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
    // In the same order as the records before; for a rename, both names follow.
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

const presentMode = (mode = ""): string | null => (mode === "000000" ? null : mode);
const presentOid = (oid = ""): string | null => (/^0+$/.test(oid) ? null : oid);
