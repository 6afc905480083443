import type { Db } from "../../../db.ts";
import { conflict } from "../../../errors.ts";
import { GitFailed, type GitOptions, gitLines, runGit } from "../run-git.ts";
import type { RefChange } from "./ref-name.ts";

/** @returns a commit or a tag object. `git rev-parse` would read the name `v1-2-g0123abc` as a commit. */
export async function resolveRef(path: string, ref: string, options: Pick<GitOptions, "timeoutMs"> = {}): Promise<string | null> {
  try {
    return (await runGit(path, ["show-ref", "--verify", "--hash", "--", ref], options)).toString("latin1").trim();
  } catch (error) {
    if (error instanceof GitFailed && /not a valid ref/.test(error.stderr)) return null;
    throw error;
  }
}

/** A list of this many refs fits into the output of `runGit`. */
export const REPOSITORY_REFS_MAX = 50_000;

export const tooManyRefs = (total: number): string =>
  `A repository can have at most ${REPOSITORY_REFS_MAX.toLocaleString("en")} branches, tags and pull requests. This one has ${total.toLocaleString("en")}. Delete some of them first.`;

/** Strangers can open many pull requests, so this room is reserved for branches and tags (S137). */
export const BRANCHES_AND_TAGS_LEFT = 10_000;

export async function requireRoomForRef(path: string, { isPullRequest = false } = {}): Promise<void> {
  const { total, pullRequests } = await findRefs(path, new Set());
  if (total >= REPOSITORY_REFS_MAX) throw conflict(tooManyRefs(total));
  if (isPullRequest && pullRequests >= REPOSITORY_REFS_MAX - BRANCHES_AND_TAGS_LEFT)
    throw conflict(
      `This repository has ${pullRequests} pull requests with commits, which is the maximum. Its maintainers can delete the commits of closed ones.`,
    );
}

export async function listRefs(
  path: string,
  prefix = "refs/",
  options: Pick<GitOptions, "timeoutMs"> = {},
): Promise<Map<string, string>> {
  const output = await runGit(path, ["for-each-ref", "--format=%(objectname) %(refname)", "--", prefix], options);
  const lines = output.toString("utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/**
 * @param options.max the most refs that are read
 * @returns the existing refs among `names`, and the numbers of all refs and of pull requests
 */
export async function findRefs(
  path: string,
  names: ReadonlySet<string>,
  { prefix = "refs/", max = 0, ...options }: Pick<GitOptions, "timeoutMs"> & { prefix?: string; max?: number } = {},
): Promise<{ refs: Map<string, string>; total: number; pullRequests: number }> {
  const refs = new Map<string, string>();
  let [total, pullRequests] = [0, 0];
  const args = ["for-each-ref", `--count=${max}`, "--format=%(objectname) %(refname)", "--", prefix];
  for await (const lines of gitLines(path, args, options)) {
    total += lines.length;
    for (const line of lines) {
      if (line.startsWith("refs/pr/", 41)) pullRequests++;
      if (names.has(line.slice(41))) refs.set(line.slice(41), line.slice(0, 40));
    }
  }
  return { refs, total, pullRequests };
}

const ABSENT = "0".repeat(40);
// Git's messages about a ref that has another value or is being changed.
const MOVED = /is at [0-9a-f]{40} but expected|reference already exists|unable to resolve reference|Unable to create /;
const CLASH = /'([^']+)' exists; cannot create/;

/**
 * Call this only within `changeRefs`. Changes all refs or none.
 * @returns an empty list if somebody else has changed a ref
 */
export async function updateRefs(path: string, changes: readonly RefChange[]): Promise<readonly RefChange[]> {
  const lines = changes.map(({ ref, oldSha, newSha }) =>
    newSha === null ? `delete ${ref}\0${oldSha ?? ABSENT}\0` : `update ${ref}\0${newSha}\0${oldSha ?? ABSENT}\0`,
  );
  try {
    await runGit(
      path,
      ["-c", "core.filesRefLockTimeout=2000", "-c", "core.fsync=reference", "update-ref", "--no-deref", "-z", "--stdin"],
      {
        input: lines.join(""),
      },
    );
    return changes;
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    const [, other] = CLASH.exec(error.stderr) ?? [];
    if (other)
      throw conflict(
        `${other.replace(/^refs\/\w+\//, "")} already exists and conflicts with this name, because one would be a folder of the other. Choose another name.`,
      );
    if (MOVED.test(error.stderr)) return [];
    throw error;
  }
}

/** While the outcome of a change is unknown, a repository gets far fewer events. */
const EVENTS_MAX = 2_000;
const CHANGES_MAX = 50_000;

type RefHistory = Map<string, RefChange[]>;

/** PostgreSQL filters the events, which may have hundreds of megabytes (S137). */
export async function readRefHistory(tx: Db, repoId: string, since: Date, asked: readonly RefChange[]): Promise<RefHistory> {
  const changes = await tx.$queryRaw<RefChange[]>`
    SELECT change ->> 'ref' AS ref, change ->> 'oldSha' AS "oldSha", change ->> 'newSha' AS "newSha"
      FROM (SELECT id, created_at, payload FROM event
             WHERE repo_id = ${repoId} AND scope = 'repo.content' AND created_at >= ${since}
             ORDER BY created_at, id LIMIT ${EVENTS_MAX}) e,
           json_array_elements(payload -> 'updatedRefs') WITH ORDINALITY AS changes(change, place)
     WHERE change ->> 'ref' = ANY (${asked.map(({ ref }) => ref)})
     ORDER BY created_at, id, place LIMIT ${CHANGES_MAX}`;
  return Map.groupBy(changes, ({ ref }) => ref);
}

export function isRecorded(history: RefHistory, { ref, oldSha, newSha }: RefChange): boolean {
  return (history.get(ref) ?? []).some((one) => one.oldSha === oldSha && one.newSha === newSha);
}

/** A ref's recorded changes form a chain. A change has happened if it fills a gap of the chain. */
export function hasHappened(history: RefHistory, asked: RefChange, now: string | null): boolean {
  const { ref, oldSha, newSha } = asked;
  if (oldSha === newSha || isRecorded(history, asked)) return false;
  const chain = history.get(ref) ?? [];
  return [...chain, { ref, oldSha: now, newSha: now }].some(
    (next, index) => next.oldSha === newSha && (index === 0 || chain[index - 1]?.newSha === oldSha),
  );
}
