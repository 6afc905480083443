import type { RepoType } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { readRepo } from "./read-repos.ts";
import { repoResource } from "./repo.ts";

/** See S143. */
const LIKES_OF_USER_MAX = 10_000;
const CHANGES = { limit: 1_000, windowSeconds: 60 * 60 };
export const LIKES_PAGE = 100;
/** Limited, because counting all entries would be the most expensive part of a list. */
export const LIKES_PAGES_MAX = 100;

/** Others can see likes and comments, so both need the same right. */
export async function setLike(actor: Actor, name: RepoName, isLiked: boolean): Promise<void> {
  const repo = await findRepo(actor, name, "discussion.write");
  const userId = actorId(actor);
  if (!userId) throw new ServiceError("forbidden", "Only a user can like a repository.");
  await consumeThrottle(throttleKey("like", userId), CHANGES);
  await inTransaction(async (tx) => {
    // While the transaction waits for rows of other likes, it holds a connection, so the wait is short (S137).
    await tx.$executeRaw`SET LOCAL lock_timeout = '2s'`;
    if (!isLiked) return void (await tx.repoLike.deleteMany({ where: { repoId: repo.id, userId } }));
    await requireRoom(tx, userId);
    // The insert's foreign key would take a weaker lock first. Two likes with a push between them would then deadlock.
    await tx.$executeRaw`SELECT FROM repo WHERE id = ${repo.id} FOR NO KEY UPDATE`;
    await tx.$executeRaw`INSERT INTO repo_like (repo_id, user_id) VALUES (${repo.id}, ${userId}) ON CONFLICT DO NOTHING`;
    // The repository may have become private before its row was locked (S135).
    const current = await readRepo(repo.id, tx);
    if (!current) throw notFound("Repository");
    await requirePermission(actor, "discussion.write", repoResource(current), { what: "Repository", tx });
  });
}

/** The lock makes a user's simultaneous likes wait for each other, so that each counts. */
async function requireRoom(tx: Db, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT 1 FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
  if ((await tx.repoLike.count({ where: { userId } })) >= LIKES_OF_USER_MAX) {
    throw conflict(
      `You have liked ${LIKES_OF_USER_MAX.toLocaleString("en")} repositories, which is the maximum. Remove a like first.`,
    );
  }
}

type Like = { type: RepoType; fullName: string; createdAt: Date };

const listedMax = (pageSize: number): number => LIKES_PAGES_MAX * pageSize;

export async function listLikesOfUser(userId: string, page: number, pageSize = LIKES_PAGE): Promise<Like[]> {
  return db().$queryRaw<Like[]>`
    SELECT r.type, coalesce(u.username, o.name) || '/' || r.name AS "fullName", l.created_at AS "createdAt" ${likesOf(userId)}
     ORDER BY l.created_at DESC, l.repo_id LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`;
}

export async function countLikesOfUser(userId: string, pageSize: number): Promise<number> {
  const [counted] = await db().$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM (SELECT 1 ${likesOf(userId)} LIMIT ${listedMax(pageSize)}) listed`;
  return counted?.total ?? 0;
}

const likesOf = (userId: string) =>
  Prisma.sql`FROM repo_like l JOIN repo r ON r.id = l.repo_id
    LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
    LEFT JOIN organization o ON r.owner_kind = 'organization' AND o.id = r.owner_id
    WHERE l.user_id = ${userId} AND NOT r.is_private AND u.disabled_at IS NULL`;

type Liker = { username: string; fullName: string; avatarId: string | null; likedAt: Date };

export async function listLikers(actor: Actor, name: RepoName, page: number): Promise<Liker[]> {
  const repo = await findRepo(actor, name, "repo.read");
  const likes = await db().repoLike.findMany({
    where: likersOf(repo.id),
    orderBy: [{ createdAt: "desc" }, { userId: "asc" }],
    select: { createdAt: true, user: { select: { username: true, fullName: true, avatarId: true } } },
    skip: (page - 1) * LIKES_PAGE,
    take: LIKES_PAGE,
  });
  return likes.map(({ user, createdAt }) => ({ ...user, likedAt: createdAt }));
}

/** Call this with a repository that was found for the actor. */
export const countLikers = (repoId: string): Promise<number> =>
  db().repoLike.count({ where: likersOf(repoId), take: listedMax(LIKES_PAGE) });

const likersOf = (repoId: string) => ({ repoId, user: { disabledAt: null } });

export async function isLikedBy(userId: string, repoId: string): Promise<boolean> {
  return (await db().repoLike.count({ where: { userId, repoId } })) > 0;
}
