import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { db } from "#core/db.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { boundAuthority } from "../apps/change-app.ts";

export type RecentExchange = {
  id: string;
  at: Date;
  isRefused: boolean;
  /** The e-mail address that was sent. */
  subject: string;
  scopes: string[];
  /** Why it was refused, as in exchange-refusal.ts. */
  reason: string | null;
  ip: string | null;
};

export const RECENT_EXCHANGES = 8;

type Data = { subject?: string; scopes?: string[]; reason?: string };

/** The last exchanges of a bound app, from the organization's audit log. @throws ServiceError `not_found` */
export async function listRecentExchanges(
  actor: Actor,
  { clientId, boundOrgId }: Pick<OAuthApp, "clientId" | "boundOrgId">,
): Promise<RecentExchange[]> {
  if (!boundOrgId) return [];
  await requirePermission(actor, "oauth_app.read", boundAuthority(boundOrgId), { what: "Organization" });
  const events = await db().auditEvent.findMany({
    where: { orgId: boundOrgId, type: { in: ["oauth_token.exchange", "oauth_token.exchange_refused"] }, clientId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: RECENT_EXCHANGES,
  });
  return events.map(({ id, createdAt, type, data, ip }) => {
    const { subject = "", scopes = [], reason = null } = data as Data;
    return { id, at: createdAt, isRefused: type !== "oauth_token.exchange", subject, scopes, reason, ip };
  });
}
