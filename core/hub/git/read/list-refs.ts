import type { Repo } from "../../repos/repo.ts";
import { REPOSITORY_REFS_MAX } from "../refs/git-refs.ts";
import { openRepository } from "../repository.ts";
import { TAG_MAX_BYTES } from "./git-objects.ts";
import { runWalk, runWalkGit, walker, walkGitLines } from "./walk.ts";

export type ListedRef = {
  name: string;
  ref: string;
  targetCommit: string;
};

export type RefDescription = {
  committedAt: Date | null;
  message: string | null;
};

type Refs = { branches: ListedRef[]; tags: ListedRef[]; converts: ListedRef[]; pullRequests: ListedRef[] };

const REFS_MAX = 10_000;
/** S137: the limit for the names of one kind, as JSON. */
const NAMES_MAX_BYTES = 1024 * 1024;

const kinds = { branches: "refs/heads/", tags: "refs/tags/", converts: "refs/convert/", pullRequests: "refs/pr/" } as const;
const SUBJECT_MAX_CHARACTERS = 200;

// Git can print these fields without reading the objects' content.
const FORMAT = ["refname", "objectname", "objecttype", "objectsize"].map((field) => `%(${field})`).join("%00");
const DESCRIPTION = ["refname", "objecttype", "committerdate:unix", "*committerdate:unix", "contents:subject"];
const DESCRIPTION_FORMAT = DESCRIPTION.map((field) => `%(${field})`).join("%00");

const listOnce = walker<Refs>({ max: 1_000, keepsWhole: false });

export async function listRefs(repo: Repo, { withPullRequests = false } = {}): Promise<Refs> {
  const directory = await openRepository(repo);
  const wanted = Object.values(kinds).filter((prefix) => prefix !== kinds.pullRequests || withPullRequests);
  const walk = async () => ({ value: await readRefs(directory, wanted), isWhole: true });
  const refs = await listOnce({ directory, of: wanted, walk });
  refs.branches.sort((one, other) => Number(other.name === repo.defaultBranch) - Number(one.name === repo.defaultBranch));
  refs.pullRequests.sort((one, other) => Number(other.name) - Number(one.name));
  return refs;
}

async function readRefs(directory: string, wanted: readonly string[]): Promise<Refs> {
  const refs: Refs = { branches: [], tags: [], converts: [], pullRequests: [] };
  const left = { branches: NAMES_MAX_BYTES, tags: NAMES_MAX_BYTES, converts: NAMES_MAX_BYTES, pullRequests: NAMES_MAX_BYTES };
  const annotated = new Set<string>();
  // Git lists the kinds one after the other, so a limit below the repository's could omit the last kind.
  const args = ["for-each-ref", `--count=${REPOSITORY_REFS_MAX}`, `--format=${FORMAT}`, "--", ...wanted];
  for await (const lines of walkGitLines(directory, args)) {
    for (const line of lines) {
      const kind = (Object.keys(kinds) as (keyof Refs)[]).find((one) => line.startsWith(kinds[one]));
      if (!kind || refs[kind].length >= REFS_MAX || left[kind] < 0) continue;
      const [ref, oid, type, size] = line.split("\0") as [string, string, string, string];
      // S137: git has to read a whole tag to find its target.
      if (type === "tag" && Number(size) <= TAG_MAX_BYTES) annotated.add(oid);
      else if (type !== "commit") continue;
      left[kind] -= Buffer.byteLength(JSON.stringify(ref));
      if (left[kind] < 0) continue;
      refs[kind].push({ name: ref.slice(kinds[kind].length), ref, targetCommit: oid });
    }
  }
  const commits = await commitsOf(directory, annotated);
  // Tags of trees and files have no page.
  refs.tags = refs.tags.flatMap((tag) => {
    const targetCommit = annotated.has(tag.targetCommit) ? commits.get(tag.targetCommit) : tag.targetCommit;
    return targetCommit ? [{ ...tag, targetCommit }] : [];
  });
  return refs;
}

/** `for-each-ref` would read a tag once for each ref that names it. */
async function commitsOf(directory: string, tags: ReadonlySet<string>): Promise<Map<string, string>> {
  const commits = new Map<string, string>();
  if (tags.size === 0) return commits;
  const input = [...tags].map((tag) => `${tag}^{commit}\n`).join("");
  const output = await runWalkGit(directory, ["cat-file", "--batch-check=%(objectname)"], { input });
  const answers = output.toString("latin1").split("\n");
  for (const [index, tag] of [...tags].entries()) {
    const answer = answers[index] ?? "";
    if (/^[0-9a-f]{40,64}$/.test(answer)) commits.set(tag, answer);
  }
  return commits;
}

export async function describeRefs(repo: Repo, shown: readonly ListedRef[]): Promise<ReadonlyMap<string, RefDescription>> {
  const descriptions = new Map<string, RefDescription>();
  if (shown.length === 0) return descriptions;
  const directory = await openRepository(repo);
  const args = ["for-each-ref", `--format=${DESCRIPTION_FORMAT}`, "--", ...shown.map(({ ref }) => ref)];
  const output = await runWalk(directory, args);
  for (const line of output.toString("utf8").split("\n").filter(Boolean)) {
    const [ref = "", type, at, peeledAt, subject = ""] = line.split("\0");
    const seconds = Number(type === "tag" ? peeledAt : at);
    const committedAt = Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1000) : null;
    descriptions.set(ref, { committedAt, message: type === "tag" ? subject.slice(0, SUBJECT_MAX_CHARACTERS) : null });
  }
  return descriptions;
}
