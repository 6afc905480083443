import type { Actor } from "../../access/actor.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import type { Repo } from "../repos/repo.ts";
import type { Discussion } from "./discussion.ts";
import { toDiscussion } from "./find-discussion.ts";
import { readAuthors } from "./read-authors.ts";

export type DiscussionFilter = {
  kind?: "all" | "discussion" | "pull_request";
  /** `open` includes drafts, `closed` includes merged ones. */
  status?: "all" | "open" | "closed";
  /** A person's handle. */
  author?: string;
  /** Part of the title. */
  search?: string;
};

export type DiscussionList = Page<Discussion> & {
  repo: Repo;
  /** Per status, with the other filters applied. */
  counts: { open: number; closed: number };
};

const SEARCH_MAX_CHARACTERS = 200;

/** The discussions and pull requests of a repository: pinned ones first, then the latest. @throws ServiceError `not_found` */
export async function listDiscussions(
  actor: Actor,
  name: RepoName,
  { kind = "all", status = "all", author, search }: DiscussionFilter,
  request: PageRequest = {},
): Promise<DiscussionList> {
  const repo = await findRepo(actor, name, "repo.read");
  const { page, pageSize, skip, take } = pageBounds(request);
  const where: Prisma.DiscussionWhereInput = {
    repoId: repo.id,
    ...(kind !== "all" && { isPullRequest: kind === "pull_request" }),
    ...(author && { authorId: await idOf(author) }),
    ...(isSearchable(search) && { title: { contains: escapeLike(search), mode: "insensitive" as const } }),
  };
  const counted = await db().discussion.groupBy({ by: ["status"], where, _count: { _all: true } });
  const countOf = (...which: string[]) =>
    counted.reduce((sum, row) => sum + (which.includes(row.status) ? row._count._all : 0), 0);
  const counts = { open: countOf(...statusesOf.open), closed: countOf(...statusesOf.closed) };
  const rows = await db().discussion.findMany({
    where: { ...where, ...(status !== "all" && { status: { in: statusesOf[status] } }) },
    orderBy: [{ isPinned: "desc" }, { num: "desc" }],
    skip,
    take,
  });
  const authors = await readAuthors(rows.map(({ authorId }) => authorId));
  const total = status === "all" ? counts.open + counts.closed : counts[status];
  return { repo, items: rows.map((row) => toDiscussion(row, authors)), page, pageSize, total, counts };
}

const statusesOf = { open: ["draft", "open"], closed: ["closed", "merged"] };

const isSearchable = (text: string | undefined): text is string =>
  text !== undefined && text !== "" && text.length <= SEARCH_MAX_CHARACTERS && !text.includes("\0") && text.isWellFormed();

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

async function idOf(handle: string): Promise<string> {
  const isPossible = handle.length <= 100 && !handle.includes("\0") && handle.isWellFormed();
  const row = isPossible ? await db().handle.findUnique({ where: { handle: handle.toLowerCase() } }) : null;
  // An unknown name matches no author.
  return row?.userId ?? "";
}
