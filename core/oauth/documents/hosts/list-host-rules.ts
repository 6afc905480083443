import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { db } from "#core/db.ts";
import type { HostRule } from "./judge-host.ts";

export type ListedHostRule = HostRule & {
  note: string | null;
  /** The operator's username; null for the operator's command and for a deleted account. */
  createdBy: string | null;
  createdAt: Date;
};

/** The operator's rules, by host name. @throws ServiceError `forbidden` */
export async function listHostRules(actor: Actor, request: PageRequest = {}): Promise<Page<ListedHostRule>> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const [total, rows] = await Promise.all([
    db().oAuthClientHost.count(),
    db().oAuthClientHost.findMany({ orderBy: { host: "asc" }, skip, take }),
  ]);
  const ids = rows.flatMap(({ createdById }) => createdById ?? []);
  const users = await db().user.findMany({ where: { id: { in: ids } }, select: { id: true, username: true } });
  const items = rows.map(({ host, rule, note, createdById, createdAt }) => ({
    host,
    rule: rule as HostRule["rule"],
    note,
    createdBy: users.find(({ id }) => id === createdById)?.username ?? null,
    createdAt,
  }));
  return { items, page, pageSize, total };
}
