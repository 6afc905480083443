import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "../../accounts/publishers/publisher.ts";
import { db } from "../../db.ts";
import { findRepo } from "../repos/find-repo.ts";
import { PUBLISHERS_MAX, type PublisherSubject } from "./change-publishers.ts";

export type ListedPublisher = TrustedPublisher & {
  addedBy: string | undefined;
};

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

async function usernamesOf(ids: readonly (string | null)[]): Promise<Map<string, string>> {
  const users = await db().user.findMany({
    where: { id: { in: [...new Set(ids.filter((id) => id !== null))] } },
    select: { id: true, username: true },
  });
  return new Map(users.map(({ id, username }) => [id, username]));
}

type OrganizationPublisher = ListedPublisher & { repo: { type: RepoType; name: string } };

export async function listOrganizationPublishers(
  actor: Actor,
  orgId: string,
  request: PageRequest = {},
): Promise<Page<OrganizationPublisher>> {
  await requirePermission(actor, "organization.list_publishers", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const where = { repo: { ownerId: orgId, ownerKind: "organization" } };
  const [total, rows] = await Promise.all([
    db().trustedPublisher.count({ where }),
    db().trustedPublisher.findMany({
      where,
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      skip,
      take,
      select: { ...publisherColumns, repo: { select: { type: true, name: true } } },
    }),
  ]);
  const addedBy = await usernamesOf(rows.map(({ createdById }) => createdById));
  const items = rows.flatMap((row) => {
    if (!row.repo) return [];
    const repo = { type: row.repo.type as RepoType, name: row.repo.name };
    return [{ ...toPublisher(row), addedBy: addedBy.get(row.createdById ?? ""), repo }];
  });
  return { items, page, pageSize, total };
}
