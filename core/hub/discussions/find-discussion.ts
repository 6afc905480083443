import type { Actor } from "../../access/actor.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import type { Repo } from "../repos/repo.ts";
import type { Discussion, DiscussionRow, DiscussionStatus } from "./discussion.ts";
import { type Authors, readAuthors } from "./read-authors.ts";

/** Identifies a discussion in requests. */
export type DiscussionName = { repo: RepoName; num: number };

const NUM_MAX = 2 ** 31 - 1;

/** @throws ServiceError `not_found` if it does not exist, and for everything in a repository that the actor may not see (S136) */
export async function findDiscussion(
  actor: Actor,
  { repo: name, num }: DiscussionName,
): Promise<{ repo: Repo; discussion: Discussion }> {
  const repo = await findRepo(actor, name, "repo.read");
  const row = isNum(num) ? await db().discussion.findUnique({ where: { repoId_num: { repoId: repo.id, num } } }) : null;
  if (!row) throw notFound("Discussion");
  return { repo, discussion: toDiscussion(row, await readAuthors([row.authorId])) };
}

/** The same before a change: locks its row until the transaction ends. */
export async function lockDiscussion(tx: Db, repo: Pick<Repo, "id">, num: number): Promise<DiscussionRow> {
  const where = { repoId: repo.id, num };
  if (isNum(num)) await tx.$queryRaw`SELECT id FROM discussion WHERE repo_id = ${repo.id} AND num = ${num} FOR UPDATE`;
  const row = isNum(num) ? await tx.discussion.findUnique({ where: { repoId_num: where } }) : null;
  if (!row) throw notFound("Discussion");
  return row;
}

const isNum = (num: number): boolean => Number.isInteger(num) && num >= 1 && num <= NUM_MAX;

export function toDiscussion(row: DiscussionRow, authors: Authors): Discussion {
  const { repoId: _, ...rest } = row;
  return { ...rest, status: row.status as DiscussionStatus, author: authors(row.authorId) };
}
