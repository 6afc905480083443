import { join } from "node:path";

/** Bundled code does not know the path of its source, but the process was started in the project's root. */
export function sourcePath(path: string): string {
  const here: string | undefined = import.meta.dirname;
  return here === undefined ? join(process.cwd(), path) : join(here, "..", path);
}
