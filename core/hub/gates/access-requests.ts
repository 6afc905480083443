import type { Actor, Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { readableOwners } from "../../access/readable-owners.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import { invalidRequest } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { readRepos } from "../repos/read-repos.ts";
import type { Repo } from "../repos/repo.ts";

/** The states of a request to read a gated repository. */
export const accessRequestStatuses = ["pending", "accepted", "rejected"] as const;
export type AccessRequestStatus = (typeof accessRequestStatuses)[number];

export const MESSAGE_MAX_CHARACTERS = 1_000;
export const REASON_MAX_CHARACTERS = 200;

/** An access request as those who decide see it. */
export type AccessRequest = {
  user: {
    id: string;
    username: string;
    fullName: string;
    avatarId: string | null;
    /**
     * A user shares it by asking. Null for a user who was given access without asking, and after a rejection: the address may have changed
     * since, and the request cannot be withdrawn.
     */
    email: string | null;
  };
  status: AccessRequestStatus;
  message: string | null;
  rejectionReason: string | null;
  askedAt: Date;
  decidedAt: Date | null;
};

/** @throws ServiceError `invalid_request` */
export function parseAccessRequestStatus(value: unknown): AccessRequestStatus {
  if (!accessRequestStatuses.includes(value as AccessRequestStatus)) {
    throw invalidRequest("Choose pending, accepted or rejected.", "status");
  }
  return value as AccessRequestStatus;
}

/** Without a gate there is nothing to request or to decide. */
export function requireGate({ gated }: { gated: string }): void {
  if (gated === "none") throw invalidRequest("This repository is not gated: everyone who can see it can read it.");
}

/**
 * The access requests of a repository with this status, oldest first; for those who decide. It includes users who were given access without
 * asking.
 * @throws ServiceError `not_found`, `forbidden`, `insufficient_scope`, `unauthorized`
 */
export async function listAccessRequests(
  actor: Actor,
  wanted: RepoName,
  { status, ...request }: PageRequest & { status: AccessRequestStatus },
): Promise<Page<AccessRequest>> {
  const { id: repoId } = await findRepo(actor, wanted, "repo.manage");
  const { page, pageSize, skip, take } = pageBounds(request);
  const where = { repoId, status };
  const [total, rows] = await Promise.all([
    db().accessRequest.count({ where }),
    db().accessRequest.findMany({ where, orderBy: [{ createdAt: "asc" }, { id: "asc" }], skip, take }),
  ]);
  const users = await db().user.findMany({
    where: { id: { in: rows.map(({ userId }) => userId) } },
    select: { id: true, username: true, fullName: true, avatarId: true, email: true },
  });
  const byId = new Map(users.map((user) => [user.id, user]));
  const items = rows.flatMap(({ userId, hasAsked, createdAt, ...row }) => {
    const user = byId.get(userId);
    if (!user) return [];
    const { message, rejectionReason, decidedAt } = row;
    return [
      {
        user: { ...user, email: hasAsked && status !== "rejected" ? user.email : null },
        status,
        message,
        rejectionReason,
        decidedAt,
        askedAt: createdAt,
      },
    ];
  });
  return { items, page, pageSize, total };
}

/**
 * The gated repositories of an organization that have pending access requests, with the number of requests, the longest waiting first, at
 * most ten. For those who manage the organization.
 * @throws ServiceError `forbidden`
 */
export async function listReposWithRequests(actor: Actor, orgId: string): Promise<{ repo: Repo; waiting: number }[]> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const rows = await db().$queryRaw<{ id: string; waiting: number }[]>`
    SELECT r.id, count(*)::int AS waiting FROM repo r JOIN access_request a ON a.repo_id = r.id AND a.status = 'pending'
    WHERE r.owner_id = ${orgId} AND r.gated <> 'none' GROUP BY r.id ORDER BY min(a.created_at), r.id LIMIT ${REPOS_MAX}`;
  const repos = await readRepos(Prisma.sql`r.id = ANY (${rows.map(({ id }) => id)})`, { isWithoutCards: true });
  return rows.flatMap(({ id, waiting }) => {
    const repo = repos.find((one) => one.id === id);
    return repo ? [{ repo, waiting }] : [];
  });
}

const REPOS_MAX = 10;

/** How many access requests a repository has per status. It checks no permissions. */
export async function countAccessRequests({ id }: Pick<Repo, "id">): Promise<Record<AccessRequestStatus, number>> {
  const groups = await db().accessRequest.groupBy({ by: ["status"], where: { repoId: id }, _count: true });
  const count = (status: AccessRequestStatus) => groups.find((group) => group.status === status)?._count ?? 0;
  return Object.fromEntries(accessRequestStatuses.map((status) => [status, count(status)])) as Record<
    AccessRequestStatus,
    number
  >;
}

/** An access request as the user who made it sees it. */
export type OwnAccessRequest = {
  repoId: string;
  /** Null when the user may no longer see the repository. */
  repo: Repo | null;
  status: AccessRequestStatus;
  rejectionReason: string | null;
  askedAt: Date;
};

/** A user's request for one repository, if there is one. */
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
