import type { Person } from "../../access/actor.ts";
import { readableOwners } from "../../access/readable-owners.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readRepos } from "../repos/read-repos.ts";
import type { Repo } from "../repos/repo.ts";
import type { AccessRequestStatus } from "./access-request.ts";

/** An access request as the user who made it sees it. */
export type OwnAccessRequest = {
  repoId: string;
  /** Null when the user may no longer see the repository. */
  repo: Repo | null;
  status: AccessRequestStatus;
  rejectionReason: string | null;
  askedAt: Date;
};

/** A user's request for one repository; undefined if they have not asked. */
export async function findOwnAccessRequest(
  { userId }: Person,
  { id: repoId }: Pick<Repo, "id">,
): Promise<Pick<OwnAccessRequest, "status" | "rejectionReason" | "askedAt"> | undefined> {
  const row = await db().accessRequest.findUnique({
    where: { repoId_userId: { repoId, userId } },
    select: { status: true, rejectionReason: true, createdAt: true },
  });
  return row
    ? { status: row.status as AccessRequestStatus, rejectionReason: row.rejectionReason, askedAt: row.createdAt }
    : undefined;
}

/** All requests of a user, latest first. */
export async function listOwnAccessRequests(person: Person, request: PageRequest = {}): Promise<Page<OwnAccessRequest>> {
  const { page, pageSize, skip, take } = pageBounds(request);
  const where = { userId: person.userId };
  const [total, rows, owners] = await Promise.all([
    db().accessRequest.count({ where }),
    db().accessRequest.findMany({ where, orderBy: [{ createdAt: "desc" }, { id: "desc" }], skip, take }),
    readableOwners(person, "repo.read"),
  ]);
  const repos = await readRepos(Prisma.sql`r.id = ANY(${rows.map(({ repoId }) => repoId)})`, { isWithoutCards: true });
  const isSeen = (repo: Repo) => !repo.isPrivate || owners.ownerIds.includes(repo.owner.id);
  const byId = new Map(repos.filter(isSeen).map((repo) => [repo.id, repo]));
  const items = rows.map(({ repoId, status, rejectionReason, createdAt }) => ({
    repoId,
    repo: byId.get(repoId) ?? null,
    status: status as AccessRequestStatus,
    rejectionReason,
    askedAt: createdAt,
  }));
  return { items, page, pageSize, total };
}
