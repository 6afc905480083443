import type { EventPayload } from "@keyhook/sdk";
import type { Db } from "../../../db.ts";
import { conflict } from "../../../errors.ts";
import { GitFailed, type GitOptions, gitLines, runGit } from "../run-git.ts";
import type { RefChange } from "./ref-name.ts";

/**
 * The commit, or tag object, that a full ref name points to; null when there is no such ref. It parses no revisions: `v1-2-g0123abc` is a
 * name here, while `git rev-parse` would read it as the commit 0123abc.
 */
export async function resolveRef(path: string, ref: string, options: Pick<GitOptions, "timeoutMs"> = {}): Promise<string | null> {
  try {
    return (await runGit(path, ["show-ref", "--verify", "--hash", "--", ref], options)).toString("latin1").trim();
  } catch (error) {
    if (error instanceof GitFailed && /not a valid ref/.test(error.stderr)) return null;
    throw error;
  }
}

/** The maximum number of refs in one repository: with the longest names, their list fits into the output of `runGit`. */
export const REPOSITORY_REFS_MAX = 50_000;

export const tooManyRefs = (total: number): string =>
  `A repository can have at most ${REPOSITORY_REFS_MAX.toLocaleString("en")} branches, tags and pull requests. This one has ${total.toLocaleString("en")}. Delete some of them first.`;

/** How many refs are reserved for branches and tags, because strangers may open many pull requests (S137). */
export const BRANCHES_AND_TAGS_LEFT = 10_000;

/** @throws ServiceError `conflict` if a repository has the maximum number of refs or, for a pull request, of pull requests with commits */
export async function requireRoomForRef(path: string, { isPullRequest = false } = {}): Promise<void> {
  const { total, pullRequests } = await findRefs(path, new Set());
  if (total >= REPOSITORY_REFS_MAX) throw conflict(tooManyRefs(total));
  if (isPullRequest && pullRequests >= REPOSITORY_REFS_MAX - BRANCHES_AND_TAGS_LEFT)
    throw conflict(
      `This repository has ${pullRequests} pull requests with commits, which is the maximum. Its maintainers can delete the commits of closed ones.`,
    );
}

/** All refs by their full names, with the commits or tag objects that they point to. @param prefix such as `refs/heads/` */
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
 * The existing refs among these names, as `listRefs` returns them, and the numbers of all refs and of pull requests: for a repository that
 * may have very many.
 */
export async function findRefs(
  path: string,
  names: ReadonlySet<string>,
  options: Pick<GitOptions, "timeoutMs"> = {},
): Promise<{ refs: Map<string, string>; total: number; pullRequests: number }> {
  const refs = new Map<string, string>();
  let [total, pullRequests] = [0, 0];
  for await (const lines of gitLines(path, ["for-each-ref", "--format=%(objectname) %(refname)", "--", "refs/"], options)) {
    total += lines.length;
    for (const line of lines) {
      if (line.startsWith("refs/pr/", 41)) pullRequests++;
      if (names.has(line.slice(41))) refs.set(line.slice(41), line.slice(0, 40));
    }
  }
  return { refs, total, pullRequests };
}

const ABSENT = "0".repeat(40);
// Git's messages for a ref that does not have the expected value, or that somebody else is changing now.
const MOVED = /is at [0-9a-f]{40} but expected|reference already exists|unable to resolve reference|Unable to create /;
const CLASH = /'([^']+)' exists; cannot create/;

/**
 * Changes refs, all of them or none, each only if it still is at `oldSha`; to be called within `changeRefs`.
 * @returns the changes; none if one of the refs has changed, or somebody else is changing it
 * @throws ServiceError `conflict` when two names cannot coexist (`a` and `a/b`)
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

/** Far more events than one repository gets while the outcome of a change is unknown. */
const EVENTS_MAX = 2_000;

/** The changes of a repository's refs recorded since a point in time: by ref, in order. */
type RefHistory = Map<string, RefChange[]>;

export async function readRefHistory(tx: Db, repoId: string, since: Date): Promise<RefHistory> {
  const events = await tx.event.findMany({
    where: { repoId, scope: "repo.content", createdAt: { gte: since } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: EVENTS_MAX,
    select: { payload: true },
  });
  const history: RefHistory = new Map();
  for (const { payload } of events) {
    for (const change of (payload as Extract<EventPayload, { updatedRefs: unknown }>).updatedRefs) {
      history.set(change.ref, [...(history.get(change.ref) ?? []), change]);
    }
  }
  return history;
}

/** Whether exactly this change is recorded already. */
export function isRecorded(history: RefHistory, { ref, oldSha, newSha }: RefChange): boolean {
  return (history.get(ref) ?? []).some((one) => one.oldSha === oldSha && one.newSha === newSha);
}

/**
 * Whether a requested change has happened without being recorded. The recorded changes of a ref form a chain from value to value, up to
 * its current value: the change has happened if the chain has a gap into which it fits.
 */
export function hasHappened(history: RefHistory, asked: RefChange, now: string | null): boolean {
  const { ref, oldSha, newSha } = asked;
  if (oldSha === newSha || isRecorded(history, asked)) return false;
  const chain = history.get(ref) ?? [];
  return [...chain, { ref, oldSha: now, newSha: now }].some(
    (next, index) => next.oldSha === newSha && (index === 0 || chain[index - 1]?.newSha === oldSha),
  );
}
