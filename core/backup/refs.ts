import { access } from "node:fs/promises";
import { join } from "node:path";
import { listRefs } from "../hub/git/refs/git-refs.ts";
import { repositoryPath } from "../hub/git/repository.ts";
import { GitFailed, RanOutOfTime } from "../hub/git/run-git.ts";
import { log } from "../log.ts";
import { BackupError } from "./backup-error.ts";
import { linesOf } from "./check-database.ts";

const AT_ONCE = 4;
/** One slow repository must not stop the backup of all others (S137). */
const LIST_MAX_MS = 10 * 60_000;
const UNREAD_MAX = 10;

/** Call this before objects are copied, so that the copy has every object that a ref needs. */
export async function* readAllRefs(
  repoIds: readonly string[],
  found: { repositories: number; unread: string[] },
): AsyncGenerator<Buffer, void, undefined> {
  // Restic stores no empty stream.
  yield Buffer.from("# refs\n");
  for (let at = 0; at < repoIds.length; at += AT_ONCE) {
    for (const lines of await Promise.all(repoIds.slice(at, at + AT_ONCE).map((id) => refLines(id, found.unread)))) {
      if (!lines) continue;
      found.repositories++;
      yield Buffer.from(lines);
    }
  }
}

async function refLines(id: string, unread: string[]): Promise<string | undefined> {
  const path = repositoryPath(id);
  const isThere = await access(join(path, "HEAD")).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const refs = await listRefs(path, "refs/", { timeoutMs: LIST_MAX_MS }).catch((error: unknown) => {
    if (!(error instanceof GitFailed || error instanceof RanOutOfTime)) throw error;
    unread.push(id);
    const reason = error.cause ?? error;
    log().error({ err: reason, repo: id }, "git cannot list the refs of a repository for the backup");
    if (unread.length <= UNREAD_MAX) return undefined;
    throw new BackupError(`Git cannot list the refs of many repositories: ${unread.join(", ")}. ${reason}`, { cause: error });
  });
  if (!refs) return undefined;
  return [`repo ${id}`, ...[...refs].map(([name, sha]) => `${sha} ${name}`), ""].join("\n");
}

export type RepositoryRefs = { id: string; refs: { name: string; sha: string }[] };

/** Parses the lines of `readAllRefs`. A name may contain U+2028, at which readline would split it. */
export async function* parseAllRefs(source: AsyncIterable<Buffer>): AsyncGenerator<RepositoryRefs, void, undefined> {
  let current: RepositoryRefs | undefined;
  for await (const bytes of linesOf(source)) {
    const line = bytes.toString();
    if (line.startsWith("repo ")) {
      if (current) yield current;
      current = { id: line.slice(5), refs: [] };
    } else current?.refs.push({ sha: line.slice(0, 40), name: line.slice(41) });
  }
  if (current) yield current;
}
