import { isScope, type Scope } from "@keyhook/sdk";
import { db } from "#core/db.ts";

export type ConnectedApp = {
  consentId: string;
  clientId: string;
  name: string;
  logoId: string | null;
  homepageUrl: string | null;
  isVerified: boolean;
  scopes: Scope[];
  organizations: { id: string; name: string; fullName: string }[];
  isAllOrgs: boolean;
  firstUsedAt: Date;
  lastUsedAt: Date | null;
};

export const CONNECTED_APPS_PAGE_SIZE = 20;

/** The apps that a person has let in, last used first (S114). `page` counts from 1. */
export async function listConsents(userId: string, page: number): Promise<{ apps: ConnectedApp[]; count: number }> {
  const where = { userId, revokedAt: null };
  const [count, consents] = await Promise.all([
    db().oAuthConsent.count({ where }),
    db().oAuthConsent.findMany({
      where,
      orderBy: [{ lastUsedAt: { sort: "desc", nulls: "last" } }, { createdAt: "desc" }],
      take: CONNECTED_APPS_PAGE_SIZE,
      skip: (Math.max(1, page) - 1) * CONNECTED_APPS_PAGE_SIZE,
    }),
  ]);
  const [apps, organizations] = await Promise.all([
    db().oAuthApp.findMany({ where: { clientId: { in: consents.map(({ clientId }) => clientId) } } }),
    db().organization.findMany({
      // Only those that the person is still in: the token reaches no other.
      where: { id: { in: consents.flatMap(({ orgIds }) => orgIds) }, memberships: { some: { userId } } },
      select: { id: true, name: true, fullName: true },
      orderBy: { name: "asc" },
    }),
  ]);
  const appOf = new Map(apps.map((app) => [app.clientId, app]));
  return {
    count,
    apps: consents.map((consent) => {
      const app = appOf.get(consent.clientId);
      return {
        consentId: consent.id,
        clientId: consent.clientId,
        name: app?.name ?? consent.clientId,
        logoId: app?.logoId ?? null,
        homepageUrl: app?.homepageUrl ?? null,
        isVerified: Boolean(app?.verifiedAt),
        scopes: consent.scopes.filter(isScope),
        organizations: organizations.filter(({ id }) => consent.orgIds.includes(id)),
        isAllOrgs: consent.isAllOrgs,
        firstUsedAt: consent.createdAt,
        lastUsedAt: consent.lastUsedAt,
      };
    }),
  };
}
