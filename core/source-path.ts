import { join } from "node:path";

/**
 * Where a file of ours lies that is run or read as it is, by its path from the project's root. Code that Next has bundled does not
 * know where it came from; the process that runs it was started in the root (core/instance/child.ts).
 */
export function sourcePath(path: string): string {
  const here: string | undefined = import.meta.dirname;
  return here === undefined ? join(process.cwd(), path) : join(here, "..", path);
}
