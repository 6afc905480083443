import { isScope, type Scope } from "@keyhook/sdk";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { db } from "#core/db.ts";
import { findClientRecords } from "../client-records.ts";
import { findRegisteredResources, type RegisteredResource } from "../resources/resource-servers.ts";

export type ConnectedApp = {
  consentId: string;
  clientId: string;
  name: string;
  logoId: string | null;
  homepageUrl: string | null;
  isVerified: boolean;
  isFirstParty: boolean;
  /** Set for an app that is known by its metadata document only. */
  documentHost: string | null;
  scopes: Scope[];
  /** Those of the answer that the person is still in. */
  organizations: { id: string; name: string; fullName: string; avatarId: string | null }[];
  isAllOrgs: boolean;
  /** The services beside this one at which the app may act for the person. */
  resources: RegisteredResource[];
  firstUsedAt: Date;
  lastUsedAt: Date | null;
};

const PAGE_SIZE = 20;

/** The apps that a person has let in, last used first (S114). */
export async function listConsents(userId: string, request: PageRequest = {}): Promise<Page<ConnectedApp>> {
  const where = { userId, revokedAt: null };
  const { page, pageSize, skip, take } = pageBounds({ pageSize: PAGE_SIZE, ...request });
  const [total, consents] = await Promise.all([
    db().oAuthConsent.count({ where }),
    db().oAuthConsent.findMany({
      where,
      orderBy: [{ lastUsedAt: { sort: "desc", nulls: "last" } }, { createdAt: "desc" }, { id: "desc" }],
      take,
      skip,
    }),
  ]);
  const [apps, resources, organizations] = await Promise.all([
    findClientRecords(consents.map(({ clientId }) => clientId)),
    findRegisteredResources(consents.flatMap(({ resources }) => resources)),
    db().organization.findMany({
      // Only those that the person is still in: the token reaches no other.
      where: { id: { in: consents.flatMap(({ orgIds }) => orgIds) }, memberships: { some: { userId } } },
      select: { id: true, name: true, fullName: true, avatarId: true },
      orderBy: { name: "asc" },
    }),
  ]);
  return {
    page,
    pageSize,
    total,
    items: consents.map((consent) => {
      const app = apps.get(consent.clientId);
      return {
        consentId: consent.id,
        clientId: consent.clientId,
        name: app?.name ?? consent.clientId,
        logoId: app?.logoId ?? null,
        homepageUrl: app?.homepageUrl ?? null,
        isVerified: Boolean(app?.verifiedAt),
        isFirstParty: app?.isFirstParty ?? false,
        documentHost: app?.documentHost ?? null,
        scopes: consent.scopes.filter(isScope),
        organizations: organizations.filter(({ id }) => consent.orgIds.includes(id)),
        isAllOrgs: consent.isAllOrgs,
        resources: resources.filter(({ identifier }) => consent.resources.includes(identifier)),
        firstUsedAt: consent.createdAt,
        lastUsedAt: consent.lastUsedAt,
      };
    }),
  };
}
