import { readFile } from "node:fs/promises";
import { sourcePath } from "#core/source-path.ts";

/** `npm run pack` writes the SDK's reference to this folder. */
const FOLDER = "build/sdk-reference";
const NAME = /^[A-Za-z][\w-]*$/;

/** Returns undefined if there is no such page, or if this installation was not built. */
export async function readReference(...names: string[]): Promise<{ path: string; markdown: string } | undefined> {
  // Names come from the URL and must not lead out of the folder.
  if (!names.every((name) => NAME.test(name))) return undefined;
  const path = `${FOLDER}/${names.join("/")}.md`;
  try {
    return { path, markdown: await readFile(sourcePath(path), "utf8") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
