import type { Actor } from "../../access/actor.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import { inSearch } from "../../postgres/in-search.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import type { Repo } from "../repos/repo.ts";
import { type Author, type Discussion, type DiscussionRow, type DiscussionStatus, ghost } from "./discussion.ts";

export type DiscussionName = { repo: RepoName; num: number };

const NUM_MAX = 2 ** 31 - 1;

/** @throws ServiceError `not_found` if there is no such discussion or the actor may not see the repository (S136) */
export async function findDiscussion(
  actor: Actor,
  { repo: name, num }: DiscussionName,
): Promise<{ repo: Repo; discussion: Discussion }> {
  const repo = await findRepo(actor, name, "repo.read");
  const row = isNum(num) ? await db().discussion.findUnique({ where: { repoId_num: { repoId: repo.id, num } } }) : null;
  if (!row) throw notFound("Discussion");
  return { repo, discussion: toDiscussion(row, await readAuthors([row.authorId])) };
}

/** Locks the row until the transaction ends. Checks no permissions. */
export async function lockDiscussion(tx: Db, repo: Pick<Repo, "id">, num: number): Promise<DiscussionRow> {
  const where = { repoId: repo.id, num };
  if (isNum(num)) await tx.$queryRaw`SELECT id FROM discussion WHERE repo_id = ${repo.id} AND num = ${num} FOR UPDATE`;
  const row = isNum(num) ? await tx.discussion.findUnique({ where: { repoId_num: where } }) : null;
  if (!row) throw notFound("Discussion");
  return row;
}

const isNum = (num: number): boolean => Number.isInteger(num) && num >= 1 && num <= NUM_MAX;

function toDiscussion(row: DiscussionRow, authors: Authors): Discussion {
  const { repoId: _, ...rest } = row;
  return { ...rest, status: row.status as DiscussionStatus, author: authors(row.authorId) };
}

export type DiscussionFilter = {
  kind?: "all" | "discussion" | "pull_request";
  /** `open` includes drafts, `closed` includes merged ones. */
  status?: "all" | "open" | "closed";
  author?: string;
  search?: string;
};

type DiscussionList = Page<Discussion> & {
  repo: Repo;
  counts: { open: number; closed: number };
};

const SEARCH_MAX_CHARACTERS = 200;
/** A search for a part of a title uses no index, so it reads only the newest discussions (S137). */
export const SEARCHED_MAX = 10_000;

export async function listDiscussions(
  actor: Actor,
  name: RepoName,
  { kind = "all", status = "all", author, search }: DiscussionFilter,
  request: PageRequest = {},
): Promise<DiscussionList> {
  const repo = await findRepo(actor, name, "repo.read");
  const { page, pageSize, skip, take } = pageBounds(request);
  const filters: Prisma.DiscussionWhereInput = {
    repoId: repo.id,
    ...(kind !== "all" && { isPullRequest: kind === "pull_request" }),
    ...(author && { authorId: await idOf(author) }),
    ...(isSearchable(search) && {
      title: { contains: escapeLike(search), mode: "insensitive" as const },
    }),
  };
  const read = async (tx: Db) => {
    const where = { ...filters, ...(filters.title && { num: { gt: (await lastNum(repo, tx)) - SEARCHED_MAX } }) };
    return [
      await tx.discussion.groupBy({ by: ["status"], where, _count: { _all: true } }),
      await tx.discussion.findMany({
        where: { ...where, ...(status !== "all" && { status: { in: statusesOf[status] } }) },
        orderBy: [{ isPinned: "desc" }, { num: "desc" }],
        skip,
        take,
      }),
    ] as const;
  };
  const [counted, rows] = await (filters.title ? inSearch(read) : read(db()));
  const countOf = (...which: string[]) =>
    counted.reduce((sum, row) => sum + (which.includes(row.status) ? row._count._all : 0), 0);
  const counts = { open: countOf(...statusesOf.open), closed: countOf(...statusesOf.closed) };
  const authors = await readAuthors(rows.map(({ authorId }) => authorId));
  const total = status === "all" ? counts.open + counts.closed : counts[status];
  return { repo, items: rows.map((row) => toDiscussion(row, authors)), page, pageSize, total, counts };
}

const statusesOf = { open: ["draft", "open"], closed: ["closed", "merged"] };

const isSearchable = (text: string | undefined): text is string =>
  text !== undefined && text !== "" && text.length <= SEARCH_MAX_CHARACTERS && !text.includes("\0") && text.isWellFormed();

async function lastNum({ id }: Pick<Repo, "id">, tx: Db): Promise<number> {
  const { _max } = await tx.discussion.aggregate({ where: { repoId: id }, _max: { num: true } });
  return _max.num ?? 0;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

async function idOf(handle: string): Promise<string> {
  const isPossible = handle.length <= 100 && !handle.includes("\0") && handle.isWellFormed();
  const row = isPossible ? await db().handle.findUnique({ where: { handle: handle.toLowerCase() } }) : null;
  return row?.userId ?? "";
}

/** Checks no permissions. */
export async function countOpenDiscussions({ id }: Pick<Repo, "id">, tx: Db = db()): Promise<number> {
  return tx.discussion.count({ where: { repoId: id, status: { in: ["open", "draft"] } } });
}

export type Authors = (id: string | null) => Author;

export async function readAuthors(ids: readonly (string | null)[], tx: Db = db()): Promise<Authors> {
  const wanted = [...new Set(ids.filter((id): id is string => id !== null))];
  const users =
    wanted.length === 0
      ? []
      : await tx.user.findMany({ where: { id: { in: wanted } }, select: { id: true, username: true, fullName: true } });
  const byId = new Map(users.map(({ id, username, fullName }) => [id, { name: username, fullName, isGhost: false }]));
  return (id) => (id && byId.get(id)) || ghost;
}
