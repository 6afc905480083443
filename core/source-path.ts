import { join } from "node:path";

/** Code bundled by Next does not know its source's path. */
export function sourcePath(path: string): string {
  const here: string | undefined = import.meta.dirname;
  return here === undefined ? join(process.cwd(), path) : join(here, "..", path);
}
