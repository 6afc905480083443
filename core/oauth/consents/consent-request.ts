import { describeScope, isScope, type OrganizationRole, type Scope, type ScopeGroup } from "@keyhook/sdk";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { type AppRefusal, findRefusals } from "../app-policy/app-policy.ts";
import type { Interaction } from "../authorization/interaction.ts";
import { parseOrgIds } from "../authorization/org-ids.ts";
import { clientFingerprint, isRedirectUriBoundToClient } from "../clients/client-identity.ts";
import { type ClientRecord, findClientRecord } from "../clients/client-records.ts";
import { ACCESS_TOKEN_SECONDS } from "../lifetimes.ts";
import { currentProvider } from "../provider.ts";
import { findRegisteredResources, foreignResources, type RegisteredResource } from "../resources/resource-servers.ts";
import { OFFLINE_ACCESS, requiredScopes } from "../scopes.ts";
import { type Consent, readConsent } from "./find-consent.ts";

/** A submitted answer is checked against this request (S26, S33). */
export type ConsentRequest = {
  app: RequestingApp;
  scopes: RequestedScope[];
  alreadyGranted: { scope: Scope; sentence: string }[];
  /** Order: those of `orgIds`, then others. Within each group, ticked ones come first, and those that refuse the app last. */
  organizations: RequestedOrganization[];
  /** Whether the previous answer was "All current and future organizations". */
  isAllOrgs: boolean;
  /** Resources other than this service's own API (RFC 8707). */
  resources: RegisteredResource[];
  /** A host, or an app's private-use scheme (RFC 8252 §7.1). Null for a device (RFC 8628). */
  redirectTarget: string | null;
  /** The answer goes to another host than the one that serves the app's metadata document (S88). */
  isRedirectToOtherHost: boolean;
  /** Any program on the user's device may get the answer (S27). */
  isOnDevice: boolean;
  accessTokenSeconds: number;
  isOffline: boolean;
  isOfflineAsked: boolean;
  /** The app has changed its name, logo or redirect URIs since the user agreed (S36). */
  isChanged: boolean;
  earlier: Consent | undefined;
  fingerprint: string;
};

export type RequestingApp = {
  clientId: string;
  name: string;
  logoId: string | null;
  owner: { handle: string; name: string } | null;
  /** Nobody has checked this address, unless the app is verified. */
  homepageUrl: string | null;
  homepageHost: string | null;
  termsUrl: string | null;
  policyUrl: string | null;
  isVerified: boolean;
  isFirstParty: boolean;
  isSelfRegistered: boolean;
  documentHost: string | null;
};

export type RequestedScope = {
  scope: Scope;
  sentence: string;
  note?: string;
  group: ScopeGroup;
  isDangerous: boolean;
  /** Whether the scope also covers the ticked organizations (docs/specification/oauth.md#scopes). */
  coversOrganizations: boolean;
  isRequired: boolean;
  isTicked: boolean;
};

export type RequestedOrganization = {
  id: string;
  name: string;
  fullName: string;
  avatarId: string | null;
  role: OrganizationRole;
  refusal: AppRefusal | null;
  isApprovalRequested: boolean;
  isAskedFor: boolean;
  isAlreadyGranted: boolean;
  isTicked: boolean;
};

const groupOrder: ScopeGroup[] = ["identity", "read", "write", "act"];

export async function readConsentRequest(params: Interaction["params"], session: SiteSession): Promise<ConsentRequest> {
  const clientId = String(params.client_id);
  const [provider, app, previous] = await Promise.all([
    currentProvider(),
    findClientRecord(clientId),
    readConsent(session.user.id, clientId),
  ]);
  const client = await provider.Client.find(clientId);
  if (!client || !app)
    throw new ServiceError("gone", "This app was deleted or blocked, so nobody can sign in to it. You can close this page.");

  const asked = String(params.scope ?? "").split(" ");
  const requested = [...new Set(asked.filter(isScope))];
  const fingerprint = clientFingerprint(client);
  const isChanged = previous !== undefined && previous.clientFingerprint !== fingerprint;
  // An answer from before a change of the app does not count.
  const earlier = isChanged ? undefined : previous;
  const asksEverything = String(params.prompt ?? "")
    .split(" ")
    .includes("consent");
  const granted = asksEverything ? [] : (earlier?.scopes ?? []);
  const redirectUri = params.redirect_uri === undefined ? undefined : String(params.redirect_uri);
  return {
    app: await readApp(app),
    scopes: requested
      .filter((scope) => !granted.includes(scope))
      .map((scope) => requestedScope(scope, earlier))
      .sort((a, b) => groupOrder.indexOf(a.group) - groupOrder.indexOf(b.group)),
    alreadyGranted: requested
      .filter((scope) => granted.includes(scope))
      .map((scope) => ({ scope, sentence: describeScope(scope).sentence })),
    organizations: await readOrganizations(
      { userId: session.user.id, clientId },
      parseOrgIds(String(params.orgIds ?? "")),
      earlier,
    ),
    isAllOrgs: earlier?.isAllOrgs ?? false,
    resources: await findRegisteredResources(foreignResources(params.resource)),
    redirectTarget: redirectUri === undefined ? null : redirectTarget(redirectUri),
    isRedirectToOtherHost: app.documentHost !== null && isOtherHost(redirectUri, app.documentHost),
    isOnDevice: redirectUri !== undefined && !isRedirectUriBoundToClient(redirectUri),
    accessTokenSeconds: app.accessTokenSeconds ?? ACCESS_TOKEN_SECONDS,
    isOffline:
      asked.includes(OFFLINE_ACCESS) ||
      app.isRefreshAllowed ||
      (redirectUri === undefined && client.grantTypeAllowed("refresh_token")),
    isOfflineAsked: asked.includes(OFFLINE_ACCESS),
    isChanged,
    earlier,
    fingerprint,
  };
}

/** Shows only the host. The app chooses the rest of the URI, which users could mistake for a host. */
function redirectTarget(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (!url) return "";
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol.slice(0, -1);
}

/** A metadata document vouches only for its own host. */
function isOtherHost(redirectUri: string | undefined, documentHost: string): boolean {
  if (redirectUri === undefined || !isRedirectUriBoundToClient(redirectUri)) return false;
  return URL.parse(redirectUri)?.host !== documentHost;
}

function requestedScope(scope: Scope, earlier: Consent | undefined): RequestedScope {
  const { sentence, note, group, isDangerous = false, coversOrganizations = false } = describeScope(scope);
  const isRequired = requiredScopes.includes(scope);
  const isTicked = isRequired || !earlier?.declinedScopes.includes(scope);
  return { scope, sentence, note, group, isDangerous, coversOrganizations, isRequired, isTicked };
}

async function readApp(app: ClientRecord): Promise<RequestingApp> {
  return {
    clientId: app.clientId,
    name: app.name,
    logoId: app.logoId,
    owner: await readOwner(app),
    homepageUrl: app.homepageUrl,
    homepageHost: (app.homepageUrl && URL.parse(app.homepageUrl)?.host) || null,
    termsUrl: app.termsUrl,
    policyUrl: app.policyUrl,
    isVerified: app.verifiedAt !== null,
    isFirstParty: app.isFirstParty,
    isSelfRegistered: app.isSelfRegistered,
    documentHost: app.documentHost,
  };
}

async function readOwner({ ownerUserId, ownerOrgId }: ClientRecord): Promise<RequestingApp["owner"]> {
  if (ownerOrgId) {
    const org = await db().organization.findUnique({ where: { id: ownerOrgId }, select: { name: true, fullName: true } });
    return org && { handle: org.name, name: org.fullName };
  }
  if (!ownerUserId) return null;
  const user = await db().user.findUnique({ where: { id: ownerUserId }, select: { username: true, fullName: true } });
  return user && { handle: user.username, name: user.fullName };
}

async function readOrganizations(
  { userId, clientId }: { userId: string; clientId: string },
  askedFor: string[],
  earlier: Consent | undefined,
): Promise<RequestedOrganization[]> {
  const memberships = await db().membership.findMany({
    where: { userId },
    include: { org: { select: { id: true, name: true, fullName: true, avatarId: true } } },
  });
  const [refusals, requests] = await Promise.all([
    findRefusals(
      clientId,
      memberships.map(({ orgId }) => orgId),
    ),
    db().organizationAppRequest.findMany({ where: { userId, clientId }, select: { orgId: true } }),
  ]);
  return memberships
    .map(({ org, role }) => {
      const refusal = refusals.get(org.id) ?? null;
      const isApprovalRequested = requests.some(({ orgId }) => orgId === org.id);
      const isAskedFor = askedFor.includes(org.id);
      const isAlreadyGranted = earlier !== undefined && (earlier.isAllOrgs || earlier.orgIds.includes(org.id));
      const isDeclined = earlier?.declinedOrgIds.includes(org.id) ?? false;
      const isTicked = refusal === null && (isAlreadyGranted || (isAskedFor && !isDeclined));
      return { ...org, role: role as OrganizationRole, refusal, isApprovalRequested, isAskedFor, isAlreadyGranted, isTicked };
    })
    .sort(
      (a, b) =>
        Number(b.isAskedFor) - Number(a.isAskedFor) ||
        Number(b.isTicked) - Number(a.isTicked) ||
        Number(a.refusal !== null) - Number(b.refusal !== null) ||
        byName.compare(a.fullName, b.fullName),
    );
}

const byName = new Intl.Collator("en", { numeric: true });
