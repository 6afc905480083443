import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "../../accounts/publishers/publisher.ts";
import { db } from "../../db.ts";
import { findRepo } from "../repos/find-repo.ts";
import { PUBLISHERS_MAX } from "./add-publisher.ts";
import type { PublisherSubject } from "./publisher-subject.ts";

export type ListedPublisher = TrustedPublisher & {
  /** The username of whoever added it; undefined once their account is gone. */
  addedBy: string | undefined;
};

/** Whom a repository or a user trusts, the newest first. @throws ServiceError `not_found`, `forbidden` */
export async function listPublishers(actor: Actor, subject: PublisherSubject): Promise<ListedPublisher[]> {
  return readListed(await whereOf(actor, subject), { take: PUBLISHERS_MAX });
}

async function whereOf(actor: Actor, subject: PublisherSubject): Promise<{ repoId: string } | { userId: string }> {
  if ("repo" in subject) return { repoId: (await findRepo(actor, subject.repo, "repo.manage")).id };
  await requirePermission(actor, "user.list_publishers", subject, { what: "User" });
  return { userId: subject.userId };
}

async function readListed(
  where: { repoId: string } | { userId: string },
  { take }: { take: number },
): Promise<ListedPublisher[]> {
  const rows = await db().trustedPublisher.findMany({
    where,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take,
    select: publisherColumns,
  });
  const addedBy = await usernamesOf(rows.map(({ createdById }) => createdById));
  return rows.map((row) => ({ ...toPublisher(row), addedBy: addedBy.get(row.createdById ?? "") }));
}

/** The usernames of live accounts, by id. */
export async function usernamesOf(ids: readonly (string | null)[]): Promise<Map<string, string>> {
  const users = await db().user.findMany({
    where: { id: { in: [...new Set(ids.filter((id) => id !== null))] }, disabledAt: null },
    select: { id: true, username: true },
  });
  return new Map(users.map(({ id, username }) => [id, username]));
}
