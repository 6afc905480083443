import { findEntry } from "./find-entry.ts";
import { type GitObjects, ObjectTooLarge } from "./git-objects.ts";
import { entriesIn } from "./tree-entries.ts";

export type Readme = {
  /** As the file is called. */
  name: string;
  text: string;
  /** Whether it is Markdown; other texts are shown as they are. */
  isMarkdown: boolean;
};

const README_MAX_BYTES = 1024 * 1024;
/** The first of these that there is. */
const NAMES = ["readme.md", "readme.markdown", "readme", "readme.txt"];
const LENGTHS = new Set(NAMES.map(({ length }) => length));

/** What explains a folder; undefined where nothing does, or only something too large to be read. */
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
