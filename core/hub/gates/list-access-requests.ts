import type { Actor } from "../../access/actor.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import type { AccessRequest, AccessRequestStatus } from "./access-request.ts";

/**
 * The access requests of a repository and their answers, longest waiting first; for those who decide.
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
      { user: { ...user, email: hasAsked ? user.email : null }, status, message, rejectionReason, decidedAt, askedAt: createdAt },
    ];
  });
  return { items, page, pageSize, total };
}
