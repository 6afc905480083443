import { describeScope, isScope, type OrganizationRole, type Scope, type ScopeGroup } from "@keyhook/sdk";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { clientFingerprint, isLoopbackHost } from "../client-identity.ts";
import type { Interaction } from "../interaction.ts";
import { ACCESS_TOKEN_SECONDS } from "../lifetimes.ts";
import { parseOrgIds } from "../org-ids.ts";
import { currentProvider } from "../provider.ts";
import { OFFLINE_ACCESS, requiredScopes } from "../scopes.ts";
import { type Consent, readConsent } from "./find-consent.ts";

/** Everything that the permissions modal shows and that a submitted answer is checked against (S26, S33). */
export type ConsentRequest = {
  app: {
    clientId: string;
    name: string;
    logoId: string | null;
    /** Who answers for the app: a person or an organization here. */
    owner: { handle: string; name: string } | null;
    homepageHost: string | null;
    homepageUrl: string | null;
    isVerified: boolean;
  };
  /** Asked for now, in the order of the page. */
  scopes: RequestedScope[];
  /** Granted earlier and not asked again. */
  alreadyGranted: { scope: Scope; sentence: string }[];
  organizations: RequestedOrganization[];
  /** Whether the choice of organizations means anything for the scopes of this request. */
  isOrganizationChoiceShown: boolean;
  isAllOrgs: boolean;
  redirectHost: string;
  /** The app only ever receives within the device: anybody's program could be behind it (S27). */
  isLoopbackOnly: boolean;
  accessTokenSeconds: number;
  /** The app stays signed in without the person, until they revoke it. */
  isOffline: boolean;
  isRepeat: boolean;
  /** What may be stored as asked for. */
  requested: Scope[];
  previous: Consent | undefined;
  fingerprint: string;
};

export type RequestedScope = {
  scope: Scope;
  sentence: string;
  note?: string;
  group: ScopeGroup;
  isDangerous: boolean;
  /** Cannot be unticked. */
  isRequired: boolean;
  isTicked: boolean;
};

export type RequestedOrganization = {
  id: string;
  name: string;
  fullName: string;
  role: OrganizationRole;
  isAskedFor: boolean;
  isAlreadyGranted: boolean;
  isTicked: boolean;
};

const groupOrder: ScopeGroup[] = ["identity", "read", "write", "act"];

/** @throws ServiceError `gone` when the app was deleted or blocked meanwhile. */
export async function readConsentRequest(interaction: Interaction, session: SiteSession): Promise<ConsentRequest> {
  const { params } = interaction;
  const clientId = String(params.client_id);
  const [provider, app, previous] = await Promise.all([
    currentProvider(),
    db().oAuthApp.findUnique({ where: { clientId } }),
    readConsent(session.user.id, clientId),
  ]);
  const client = await provider.Client.find(clientId);
  if (!client || !app) throw new ServiceError("gone", "This app was removed a moment ago.");

  const asked = String(params.scope ?? "").split(" ");
  const requested = asked.filter(isScope);
  const fingerprint = clientFingerprint(client);
  // After the app has changed its looks everything is asked anew (S36); so it is when the app asks for the page itself.
  const isAnew =
    previous?.clientFingerprint !== fingerprint ||
    String(params.prompt ?? "")
      .split(" ")
      .includes("consent");
  const granted = isAnew ? [] : (previous?.scopes ?? []);
  const redirect = URL.parse(String(params.redirect_uri));
  const homepage = app.homepageUrl ? URL.parse(app.homepageUrl) : null;
  return {
    app: {
      clientId,
      name: app.name,
      logoId: app.logoId,
      owner: await readOwner(app),
      homepageHost: homepage?.host ?? null,
      homepageUrl: app.homepageUrl,
      isVerified: app.verifiedAt !== null,
    },
    scopes: requested
      .filter((scope) => !granted.includes(scope))
      .map((scope) => requestedScope(scope, previous))
      .sort((a, b) => groupOrder.indexOf(a.group) - groupOrder.indexOf(b.group)),
    alreadyGranted: requested
      .filter((scope) => granted.includes(scope))
      .map((scope) => ({ scope, sentence: describeScope(scope).sentence })),
    organizations: await readOrganizations(session.user.id, parseOrgIds(String(params.orgIds ?? "")), previous),
    isOrganizationChoiceShown: true,
    isAllOrgs: previous?.isAllOrgs ?? false,
    redirectHost: redirect?.host || (redirect?.protocol ?? ""),
    isLoopbackOnly: (client.redirectUris ?? []).every((uri) => isLoopbackHost(URL.parse(uri)?.hostname ?? "")),
    accessTokenSeconds: app.accessTokenSeconds ?? ACCESS_TOKEN_SECONDS,
    isOffline: asked.includes(OFFLINE_ACCESS) || app.isRefreshAllowed,
    isRepeat: previous !== undefined,
    requested,
    previous,
    fingerprint,
  };
}

function requestedScope(scope: Scope, previous: Consent | undefined): RequestedScope {
  const { sentence, note, group, isDangerous } = describeScope(scope);
  const isRequired = requiredScopes.includes(scope);
  const isTicked = isRequired || !previous?.declinedScopes.includes(scope);
  return { scope, sentence, note, group, isDangerous: isDangerous ?? false, isRequired, isTicked };
}

async function readOwner(app: { ownerUserId: string | null; ownerOrgId: string | null }) {
  if (app.ownerOrgId) {
    const org = await db().organization.findUnique({ where: { id: app.ownerOrgId }, select: { name: true, fullName: true } });
    return org && { handle: org.name, name: org.fullName };
  }
  if (!app.ownerUserId) return null;
  const user = await db().user.findUnique({ where: { id: app.ownerUserId }, select: { username: true, fullName: true } });
  return user && { handle: user.username, name: user.fullName };
}

async function readOrganizations(
  userId: string,
  askedFor: string[],
  previous: Consent | undefined,
): Promise<RequestedOrganization[]> {
  const memberships = await db().membership.findMany({
    where: { userId },
    include: { org: { select: { id: true, name: true, fullName: true } } },
    orderBy: { org: { name: "asc" } },
  });
  return memberships
    .map(({ org, role }) => {
      const isAskedFor = askedFor.includes(org.id);
      const isAlreadyGranted = previous !== undefined && (previous.isAllOrgs || previous.orgIds.includes(org.id));
      return { ...org, role: role as OrganizationRole, isAskedFor, isAlreadyGranted, isTicked: isAskedFor || isAlreadyGranted };
    })
    .sort((a, b) => Number(b.isAskedFor) - Number(a.isAskedFor));
}
