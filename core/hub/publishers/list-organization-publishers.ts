import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { publisherColumns, toPublisher } from "../../accounts/publishers/publisher.ts";
import { db } from "../../db.ts";
import { type ListedPublisher, usernamesOf } from "./list-publishers.ts";

/** A publisher with the repository that it may write. */
export type OrganizationPublisher = ListedPublisher & { repo: { type: RepoType; name: string } };

/** Everybody whose jobs may write a repository of the organization, those added last first. @throws ServiceError `forbidden` */
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
