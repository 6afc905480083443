import type { Repo } from "../../repos/repo.ts";
import { objectReads } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";

export type ListedRef = {
  /** Without what comes before it in every such name: `main` of `refs/heads/main`. */
  name: string;
  /** In full. */
  ref: string;
  /** The commit that it stands for, an annotated tag's too. */
  targetCommit: string;
  /** When that commit was made. */
  committedAt: Date | null;
  /** Of an annotated tag. */
  message: string | null;
};

export type Refs = { branches: ListedRef[]; tags: ListedRef[]; converts: ListedRef[]; pullRequests: ListedRef[] };

/** Of one kind, at most; a list that is cut has this length. */
export const REFS_MAX = 10_000;

const kinds = { branches: "refs/heads/", tags: "refs/tags/", converts: "refs/convert/", pullRequests: "refs/pr/" } as const;
const FIELDS = ["refname", "objectname", "objecttype", "*objectname", "*objecttype", "committerdate:unix", "*committerdate:unix"];
const FORMAT = [...FIELDS, "contents:subject"].map((field) => `%(${field})`).join("%00");

/** The refs of a repository: branches and tags by name, pull requests by number. The default branch comes first. */
export async function listRefs(repo: Repo, { withPullRequests = false } = {}): Promise<Refs> {
  const refs: Refs = { branches: [], tags: [], converts: [], pullRequests: [] };
  const directory = await openRepository(repo);
  const wanted = Object.values(kinds).filter((prefix) => prefix !== kinds.pullRequests || withPullRequests);
  const count = `--count=${REFS_MAX * wanted.length}`;
  const args = ["for-each-ref", count, `--format=${FORMAT}`, "--", ...wanted];
  const output = await objectReads.run(() => runGit(directory, args), { within: directory });
  for (const line of output.toString("utf8").split("\n")) {
    const found = parseLine(line);
    if (found && refs[found.kind].length < REFS_MAX) refs[found.kind].push(found.listed);
  }
  refs.branches.sort((one, other) => Number(other.name === repo.defaultBranch) - Number(one.name === repo.defaultBranch));
  refs.pullRequests.sort((one, other) => Number(other.name) - Number(one.name));
  return refs;
}

function parseLine(line: string): { kind: keyof Refs; listed: ListedRef } | undefined {
  const [ref = "", oid, type, peeled, peeledType, at, peeledAt, subject] = line.split("\0");
  const kind = (Object.keys(kinds) as (keyof Refs)[]).find((one) => ref.startsWith(kinds[one]));
  const isTag = type === "tag";
  const targetCommit = isTag ? peeled : oid;
  // A tag may name a tree or a file: that is nothing to look at.
  if (!kind || !targetCommit || (isTag ? peeledType : type) !== "commit") return undefined;
  const seconds = Number(isTag ? peeledAt : at);
  const committedAt = Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1000) : null;
  const name = ref.slice(kinds[kind].length);
  return { kind, listed: { name, ref, targetCommit, committedAt, message: isTag ? (subject ?? null) : null } };
}
