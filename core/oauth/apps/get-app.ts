import { calculateJwkThumbprint, type JWK } from "jose";
import type { Actor } from "#core/access/actor.ts";
import { may, requirePermission } from "#core/access/may.ts";
import { hasTokenExchange } from "#core/accounts/organizations/plans.ts";
import { db } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { isId } from "#core/ids.ts";
import { algorithmsOf } from "../clients/client-keys.ts";
import { boundAuthority, hasKeys, visibleTo } from "./change-app.ts";
import { countUsers } from "./list-apps.ts";

export type AppSecretDescription = {
  last4: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
};

export type AppDetails = {
  app: OAuthApp;
  secrets: AppSecretDescription[];
  keys: KeyDescription[];
  isConfidential: boolean;
  organization: { id: string; name: string; fullName: string } | null;
  ownerUsername: string | null;
  boundOrganization: { id: string; name: string; fullName: string; hasPlan: boolean } | null;
  isOwner: boolean;
  /** For a bound app, only administrators of its organization may do so. For any other app, the owner may. */
  mayManageAccess: boolean;
  userCount: number;
};

const organizationFields = { id: true, name: true, fullName: true } as const;

/** An app that the actor may not see is `not_found` (S136). */
export async function getApp(actor: Actor, appId: string): Promise<AppDetails> {
  const [seen] = isId(appId)
    ? await db().$queryRaw<unknown[]>`SELECT 1 FROM oauth_app a WHERE a.id = ${appId} AND ${visibleTo(actor)}`
    : [];
  const found = seen
    ? await db().oAuthApp.findUnique({
        where: { id: appId },
        include: {
          secrets: {
            where: { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] },
            orderBy: { createdAt: "desc" },
            select: { last4: true, createdAt: true, lastUsedAt: true, expiresAt: true },
          },
        },
      })
    : null;
  if (!found) throw notFound("OAuth app");
  const bound = found.boundOrgId ? boundAuthority(found.boundOrgId) : undefined;
  if (!bound || !(await may(actor, "oauth_app.read", bound)))
    await requirePermission(actor, "oauth_app.read", found, { what: "OAuth app" });
  const { secrets, ...app } = found;
  const [organization, boundOrganization, owner] = await Promise.all([
    app.ownerOrgId ? db().organization.findUnique({ where: { id: app.ownerOrgId }, select: organizationFields }) : null,
    app.boundOrgId
      ? db().organization.findUnique({ where: { id: app.boundOrgId }, select: { ...organizationFields, plan: true } })
      : null,
    app.ownerUserId ? db().user.findUnique({ where: { id: app.ownerUserId }, select: { username: true } }) : null,
  ]);
  return {
    app,
    secrets,
    keys: await describeKeys(app),
    isConfidential: secrets.length > 0 || hasKeys(app),
    organization,
    ownerUsername: owner?.username ?? null,
    boundOrganization: boundOrganization && {
      ...boundOrganization,
      hasPlan: hasTokenExchange(boundOrganization.plan),
    },
    isOwner: await may(actor, "oauth_app.manage", found),
    mayManageAccess: await may(actor, "oauth_app.manage", bound ?? found),
    userCount: (await countUsers([app.clientId])).get(app.clientId) ?? 0,
  };
}

export type KeyDescription = {
  kid: string;
  algorithms: readonly string[];
  /** RFC 7638. */
  thumbprint: string;
};

export async function describeKeys({ jwks }: Pick<OAuthApp, "jwks">): Promise<KeyDescription[]> {
  const { keys } = (jwks ?? { keys: [] }) as { keys: JWK[] };
  return Promise.all(
    keys.map(async (key) => ({
      kid: key.kid ?? "",
      algorithms: algorithmsOf(key),
      thumbprint: await calculateJwkThumbprint(key),
    })),
  );
}
