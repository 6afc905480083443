import { findEntry } from "./find-entry.ts";
import { type GitObjects, ObjectTooLarge } from "./git-objects.ts";
import { entriesIn } from "./tree-entries.ts";

export type Readme = {
  /** The name of the file. */
  name: string;
  text: string;
  /** Whether it is Markdown; other text is shown as it is. */
  isMarkdown: boolean;
};

const README_MAX_BYTES = 1024 * 1024;
/** The first existing one is used. */
const NAMES = ["readme.md", "readme.markdown", "readme", "readme.txt"];
const LENGTHS = new Set(NAMES.map(({ length }) => length));

/** The readme of a folder; undefined if there is none, or only one that is too large to read. */
export async function findReadme(objects: GitObjects, commit: string, path = ""): Promise<Readme | undefined> {
  const folder = await findEntry(objects, commit, path);
  if (!folder || (folder !== "root" && folder.type !== "directory")) return undefined;
  const tree = await objects.tree(folder === "root" ? commit : folder.oid);
  if (!tree) return undefined;
  const isOfInterest = (start: number, end: number) => LENGTHS.has(end - start);
  const files = [...entriesIn(tree, isOfInterest)].filter(({ type }) => type === "file");
  for (const wanted of NAMES) {
    const file = files.find(({ name }) => name.toLowerCase() === wanted);
    if (!file) continue;
    try {
      const object = await objects.read(file.oid, README_MAX_BYTES);
      if (!object || object.bytes.includes(0)) return undefined;
      return { name: file.name, text: object.bytes.toString("utf8"), isMarkdown: /\.(md|markdown)$/i.test(file.name) };
    } catch (error) {
      if (error instanceof ObjectTooLarge) return undefined;
      throw error;
    }
  }
  return undefined;
}
