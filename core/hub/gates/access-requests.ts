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

export const accessRequestStatuses = ["pending", "accepted", "rejected"] as const;
export type AccessRequestStatus = (typeof accessRequestStatuses)[number];

export const MESSAGE_MAX_CHARACTERS = 1_000;
export const REASON_MAX_CHARACTERS = 200;

export type AccessRequest = {
  user: {
    id: string;
    username: string;
    fullName: string;
    avatarId: string | null;
    /** Null after a rejection, and for a user who was given access without asking. */
    email: string | null;
  };
  status: AccessRequestStatus;
  message: string | null;
  rejectionReason: string | null;
  askedAt: Date;
  decidedAt: Date | null;
};

export function parseAccessRequestStatus(value: unknown): AccessRequestStatus {
  if (!accessRequestStatuses.includes(value as AccessRequestStatus)) {
    throw invalidRequest("Choose pending, accepted or rejected.", "status");
  }
  return value as AccessRequestStatus;
}

export function requireGate({ gated }: { gated: string }): void {
  if (gated === "none") throw invalidRequest("This repository is not gated: everyone who can see it can read it.");
}

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

/** Checks no permissions. */
export async function countAccessRequests({ id }: Pick<Repo, "id">): Promise<Record<AccessRequestStatus, number>> {
  const groups = await db().accessRequest.groupBy({ by: ["status"], where: { repoId: id }, _count: true });
  const count = (status: AccessRequestStatus) => groups.find((group) => group.status === status)?._count ?? 0;
  return Object.fromEntries(accessRequestStatuses.map((status) => [status, count(status)])) as Record<
    AccessRequestStatus,
    number
  >;
}

export type OwnAccessRequest = {
  repoId: string;
  repo: Repo | null;
  status: AccessRequestStatus;
  rejectionReason: string | null;
  askedAt: Date;
};

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
