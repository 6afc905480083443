export type EntryType = "file" | "directory" | "symlink" | "submodule";

/** One line of a tree object. */
export type TreeEntry = {
  /** Octal, as git writes it: `100644`. */
  mode: string;
  type: EntryType;
  /** As UTF-8; bytes that are none are shown by replacement characters. */
  name: string;
  /** As git keeps it. */
  bytes: Buffer;
  oid: string;
};

const OID_BYTES = 20;

/** Reads the content of a tree object. */
export function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    const mode = content.toString("latin1", at, space).padStart(6, "0");
    const bytes = content.subarray(space + 1, end);
    at = end + 1 + OID_BYTES;
    const oid = content.toString("hex", end + 1, at);
    entries.push({ mode, type: typeOf(mode), name: bytes.toString("utf8"), bytes, oid });
  }
  return entries;
}

function typeOf(mode: string): EntryType {
  if (mode.startsWith("04")) return "directory";
  if (mode.startsWith("12")) return "symlink";
  return mode.startsWith("16") ? "submodule" : "file";
}
