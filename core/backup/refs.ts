import { access } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { listRefs } from "../hub/git/refs/git-refs.ts";
import { repositoryPath } from "../hub/git/repository.ts";

const AT_ONCE = 4;

/**
 * The refs of repositories, as lines. Git reads them, since a copy of the files could miss one that is moved into `packed-refs` meanwhile.
 * Refs must be read before objects are copied, so that the copy has every object that they reach.
 * @param read counts the repositories
 */
export async function* readAllRefs(repoIds: readonly string[], read: () => void): AsyncGenerator<Buffer, void, undefined> {
  // Restic stores no empty stream.
  yield Buffer.from("# refs\n");
  for (let at = 0; at < repoIds.length; at += AT_ONCE) {
    for (const lines of await Promise.all(repoIds.slice(at, at + AT_ONCE).map(refLines))) {
      if (!lines) continue;
      read();
      yield Buffer.from(lines);
    }
  }
}

/** Undefined for a repository without a directory: nobody has pushed to it. */
async function refLines(id: string): Promise<string | undefined> {
  const path = repositoryPath(id);
  const isThere = await access(join(path, "HEAD")).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const refs = await listRefs(path);
  return [`repo ${id}`, ...[...refs].map(([name, sha]) => `${sha} ${name}`), ""].join("\n");
}

export type RepositoryRefs = { id: string; refs: { name: string; sha: string }[] };

/** Parses the lines of `readAllRefs`. */
export async function* parseAllRefs(source: AsyncIterable<Uint8Array>): AsyncGenerator<RepositoryRefs, void, undefined> {
  let current: RepositoryRefs | undefined;
  for await (const line of createInterface({ input: Readable.from(source) })) {
    if (line.startsWith("repo ")) {
      if (current) yield current;
      current = { id: line.slice(5), refs: [] };
    } else current?.refs.push({ sha: line.slice(0, 40), name: line.slice(41) });
  }
  if (current) yield current;
}
