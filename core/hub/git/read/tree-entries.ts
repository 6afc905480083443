export type EntryType = "file" | "directory" | "symlink" | "submodule";

/** One line of a tree object. */
export type TreeEntry = {
  /** Octal, in git's format: `100644`. */
  mode: string;
  type: EntryType;
  /** As UTF-8; invalid bytes become replacement characters. */
  name: string;
  /** As git stores it. */
  bytes: Buffer;
  oid: string;
};

const OID_BYTES = 20;

/**
 * The entries in the content of a tree object. Only wanted entries become objects: in a folder with 100,000 entries, scanning the bytes
 * takes 5 ms, and creating all objects 150 ms, during which the process is blocked (S137).
 * @param isWanted decides by where the name begins and ends
 */
export function* entriesIn(content: Buffer, isWanted = (_start: number, _end: number) => true): Generator<TreeEntry> {
  for (let at = 0; at < content.length; ) {
    let start = at;
    while (start < content.length && content[start] !== 0x20) start++;
    start++;
    let end = start;
    while (end < content.length && content[end] !== 0) end++;
    const next = end + 1 + OID_BYTES;
    // A damaged tree.
    if (next > content.length) return;
    if (isWanted(start, end)) {
      const mode = content.toString("latin1", at, start - 1).padStart(6, "0");
      const bytes = content.subarray(start, end);
      yield { mode, type: typeOf(mode), name: bytes.toString("utf8"), bytes, oid: content.toString("hex", end + 1, next) };
    }
    at = next;
  }
}

/** The entry with this name. A name that is not UTF-8 is found as it is shown. */
export function findNamed(content: Buffer, name: string): TreeEntry | undefined {
  const wanted = Buffer.from(name);
  const isExact = (start: number, end: number) => {
    if (end - start !== wanted.length) return false;
    let same = 0;
    while (same < wanted.length && content[start + same] === wanted[same]) same++;
    return same === wanted.length;
  };
  const [exact] = entriesIn(content, isExact);
  if (exact || !name.includes("\ufffd")) return exact;
  // Each replacement character has at least as many bytes as what it replaces.
  const isShownSo = (start: number, end: number) => end - start <= wanted.length && content.toString("utf8", start, end) === name;
  const [shown] = entriesIn(content, isShownSo);
  return shown;
}

function typeOf(mode: string): EntryType {
  if (mode.startsWith("04")) return "directory";
  if (mode.startsWith("12")) return "symlink";
  return mode.startsWith("16") ? "submodule" : "file";
}
