import { isScope, type Scope } from "@keyhook/sdk";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { db } from "#core/db.ts";
import { type ClientRecord, findClientRecord, findClientRecords } from "../clients/client-records.ts";
import { findRegisteredResources, type RegisteredResource } from "../resources/resource-servers.ts";
import { readConsent } from "./find-consent.ts";

export type ConnectedApp = {
  consentId: string;
  clientId: string;
  name: string;
  logoId: string | null;
  homepageUrl: string | null;
  isVerified: boolean;
  isFirstParty: boolean;
  documentHost: string | null;
  scopes: Scope[];
  organizations: { id: string; name: string; fullName: string; avatarId: string | null }[];
  closedOrganizations: { id: string; name: string; fullName: string }[];
  isAllOrgs: boolean;
  resources: RegisteredResource[];
  firstUsedAt: Date;
  lastUsedAt: Date | null;
};

const PAGE_SIZE = 20;

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
  const [apps, resources, closed, organizations] = await Promise.all([
    findClientRecords(consents.map(({ clientId }) => clientId)),
    findRegisteredResources(consents.flatMap(({ resources }) => resources)),
    findClosed(consents.map(({ id }) => id)),
    db().organization.findMany({
      // A token reaches only organizations of which the user is a member.
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
        closedOrganizations: closed.filter(({ consentId }) => consentId === consent.id),
        isAllOrgs: consent.isAllOrgs,
        resources: resources.filter(({ identifier }) => consent.resources.includes(identifier)),
        firstUsedAt: consent.createdAt,
        lastUsedAt: consent.lastUsedAt,
      };
    }),
  };
}

async function findClosed(
  consentIds: string[],
): Promise<(ConnectedApp["closedOrganizations"][number] & { consentId: string })[]> {
  return db().$queryRaw`
    SELECT c.id AS "consentId", o.id, o.name, o.full_name AS "fullName"
    FROM oauth_consent c JOIN membership m ON m.user_id = c.user_id AND (c.is_all_orgs OR m.org_id = ANY (c.org_ids))
    JOIN organization o ON o.id = m.org_id
    WHERE c.id = ANY (${consentIds}) AND NOT is_app_admitted(o.id, c.client_id) ORDER BY o.name`;
}

export async function findAllowedApp(userId: string, clientId: string): Promise<ClientRecord | undefined> {
  return (await readConsent(userId, clientId)) && findClientRecord(clientId);
}
