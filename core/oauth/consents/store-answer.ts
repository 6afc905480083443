import { lockLiveUser } from "#core/accounts/users/find-user.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import type { Db } from "#core/db.ts";
import { conflict, invalidRequest } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { apiAudience } from "../resources/resource-servers.ts";
import { OFFLINE_ACCESS, supportedScopes } from "../scopes.ts";
import type { ConsentRequest } from "./consent-request.ts";
import type { Consent } from "./find-consent.ts";

const CHANGED = "The app has changed in the meantime. Reload this page and review it again.";

/** S31, S33. An answer to a page from before a change of the app does not count (S36). */
export function assertAsked({ scopes, alreadyGranted, organizations, fingerprint }: ConsentRequest, answer: ConsentAnswer): void {
  if (answer.fingerprint !== fingerprint) throw invalidRequest(CHANGED);
  const requested = new Set<string>([...scopes, ...alreadyGranted].map(({ scope }) => scope));
  const known = new Set(organizations.map(({ id }) => id));
  const closed = organizations.find(({ id, refusal }) => refusal !== null && answer.orgIds.includes(id));
  if (closed) throw invalidRequest(`${closed.fullName} does not allow this app. Reload this page and decide again.`);
  if (answer.scopes.every((scope) => requested.has(scope)) && answer.orgIds.every((id) => known.has(id))) return;
  throw invalidRequest("The form does not match the request. Go back to the app and start again.");
}

export async function storeAnswer(
  tx: Db,
  owner: ConsentOwner,
  request: ConsentRequest,
  answer: ConsentAnswer,
  from: RequestOrigin,
): Promise<Choice> {
  await lockLiveUser(tx, owner.userId);
  const offered = request.organizations.map(({ id }) => id);
  const memberOf = await lockMemberships(tx, owner.userId, offered);
  const earlier = await lockEarlierConsent(tx, owner, request.fingerprint);
  const data = mergeAnswer(request, answer, earlier, memberOf);
  await storeConsent(tx, owner, data, request.fingerprint);
  await recordAuditEvent(tx, { type: "oauth_consent.give", actorId: owner.userId, clientId: owner.clientId, data, from });
  await recordOrganizationConsents(tx, owner, { before: earlier, after: data }, from);
  return data;
}

/** Locked, because a membership that ends at this moment must not leave a consent that a new membership would revive (S49). */
async function lockMemberships(tx: Db, userId: string, orgIds: readonly string[]): Promise<Set<string>> {
  if (orgIds.length === 0) return new Set();
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT org_id AS id FROM membership WHERE user_id = ${userId} AND org_id = ANY(${orgIds}) ORDER BY org_id FOR KEY SHARE`;
  return new Set(rows.map(({ id }) => id));
}

type Choice = Pick<Consent, "scopes" | "declinedScopes" | "orgIds" | "declinedOrgIds" | "isAllOrgs" | "resources">;

export type ConsentAnswer = {
  scopes: string[];
  orgIds: string[];
  isAllOrgs: boolean;
  accountId: string;
  fingerprint: string;
};

/** The page showed all organizations, but not all scopes. So earlier answers about other scopes stay (docs/decisions/011). */
function mergeAnswer(
  request: ConsentRequest,
  answer: ConsentAnswer,
  earlier: Choice | undefined,
  memberOf: ReadonlySet<string>,
): Choice {
  const offered = new Set<string>(request.scopes.map(({ scope }) => scope));
  const required = request.scopes.filter(({ isRequired }) => isRequired).map(({ scope }) => scope);
  const ticked = new Set<string>([...answer.scopes, ...required, ...(request.isOfflineAsked ? [OFFLINE_ACCESS] : [])]);
  const isKept = (scope: string) => !offered.has(scope) && !ticked.has(scope);
  const open = request.organizations.filter(({ refusal }) => refusal === null);
  const closed = request.organizations.filter(({ refusal }) => refusal !== null);
  // The page cannot answer for an organization that does not allow the app.
  const kept = closed.filter(({ id }) => earlier && !earlier.isAllOrgs && earlier.orgIds.includes(id));
  const chosen = answer.isAllOrgs ? open.map(({ id }) => id) : answer.orgIds;
  const orgIds = [...new Set([...chosen, ...kept.map(({ id }) => id)])].filter((id) => memberOf.has(id));
  const askedOrgIds = open.filter(({ isAskedFor }) => isAskedFor).map(({ id }) => id);
  return {
    scopes: supportedScopes.filter((scope) => ticked.has(scope) || (isKept(scope) && earlier?.scopes.includes(scope))),
    declinedScopes: supportedScopes.filter((scope) =>
      isKept(scope) ? earlier?.declinedScopes.includes(scope) : !ticked.has(scope),
    ),
    orgIds,
    declinedOrgIds: [...new Set([...(earlier?.declinedOrgIds ?? []), ...askedOrgIds])].filter((id) => !orgIds.includes(id)),
    isAllOrgs: answer.isAllOrgs,
    resources: [...new Set([...(earlier?.resources ?? []), ...request.resources.map(({ identifier }) => identifier)])],
  };
}

type ConsentOwner = Pick<Consent, "userId" | "clientId">;

export async function lockConsents(tx: Db, { userId, clientId }: ConsentOwner): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`consent ${userId} ${clientId}`}, 0))`;
}

async function lockEarlierConsent(tx: Db, { userId, clientId }: ConsentOwner, fingerprint: string): Promise<Choice | undefined> {
  await lockConsents(tx, { userId, clientId });
  const live = await tx.oAuthConsent.findFirst({ where: { userId, clientId, revokedAt: null } });
  // A consent from before a change of the app does not count (S36).
  return live?.clientFingerprint === fingerprint ? live : undefined;
}

/** S143: each consent, even a revoked one, prevents the deletion of the app's metadata document and logo. */
const CONSENTS_MAX = 1_000;

async function storeConsent(tx: Db, owner: ConsentOwner, choice: Choice, fingerprint: string): Promise<void> {
  const { userId, clientId } = owner;
  const [stored] = await tx.$queryRaw<{ isNew: boolean }[]>`
    INSERT INTO oauth_consent (id, user_id, client_id, scopes, declined_scopes, org_ids, declined_org_ids, is_all_orgs,
      resources, client_fingerprint)
    VALUES (${newId()}, ${userId}, ${clientId}, ${choice.scopes}, ${choice.declinedScopes}, ${choice.orgIds},
      ${choice.declinedOrgIds}, ${choice.isAllOrgs}, ${choice.resources}, ${fingerprint})
    ON CONFLICT (user_id, client_id) WHERE revoked_at IS NULL DO UPDATE SET scopes = excluded.scopes,
      declined_scopes = excluded.declined_scopes, org_ids = excluded.org_ids, declined_org_ids = excluded.declined_org_ids,
      is_all_orgs = excluded.is_all_orgs, resources = excluded.resources, client_fingerprint = excluded.client_fingerprint, updated_at = now()
    RETURNING xmax = 0 AS "isNew"`;
  if (stored?.isNew) await makeRoom(tx, userId);
  await revokeExcess(tx, owner);
}

async function makeRoom(tx: Db, userId: string): Promise<void> {
  const excess = (await tx.oAuthConsent.count({ where: { userId } })) - CONSENTS_MAX;
  if (excess <= 0) return;
  const deleted = await tx.$executeRaw`DELETE FROM oauth_consent WHERE id IN (SELECT id FROM oauth_consent
    WHERE user_id = ${userId} AND revoked_at IS NOT NULL ORDER BY revoked_at LIMIT ${excess})`;
  if (deleted < excess)
    throw conflict(
      `You have authorized ${CONSENTS_MAX.toLocaleString("en")} apps, which is the maximum. First revoke the access of one that you no longer use.`,
    );
}

/** Issued tokens lose what the user unticked (S30). A sign-in from before a change of the app stays (S36). */
export async function revokeExcess(tx: Db, { userId, clientId }: ConsentOwner): Promise<void> {
  await tx.$executeRaw`
    UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.id = g.consent_id AND c.user_id = ${userId} AND c.client_id = ${clientId} AND c.revoked_at IS NULL
      AND g.revoked_at IS NULL
      AND ((NOT c.is_all_orgs AND (g.is_all_orgs OR NOT g.org_ids <@ c.org_ids))
        OR string_to_array(coalesce(g.payload #>> '{openid,scope}', ''), ' ') && c.declined_scopes
        OR EXISTS (SELECT FROM oauth_artifact a, jsonb_path_query(jsonb_build_array(a.payload -> 'resource', a.payload -> 'aud'), '$[*][*]') named
          WHERE a.grant_id = g.id
            AND regexp_replace(named #>> '{}', '^([a-z]+://[^/?#]+)/$', '\\1') <> ALL (c.resources || ${apiAudience()}::text)))`;
}

type Reached = Readonly<{ orgIds: readonly string[] }>;

/** An organization's log contains only consents that include the organization. */
export async function recordOrganizationConsents(
  tx: Db,
  { userId, clientId }: ConsentOwner,
  { before, after }: { before: Reached | undefined; after: Reached | undefined },
  from: RequestOrigin,
): Promise<void> {
  const [was, is] = [new Set(before?.orgIds), new Set(after?.orgIds)];
  const given = [...is]
    .filter((orgId) => !was.has(orgId))
    .map((orgId) => ({ orgId, type: "oauth_consent.give_organization" as const }));
  const taken = [...was]
    .filter((orgId) => !is.has(orgId))
    .map((orgId) => ({ orgId, type: "oauth_consent.revoke_organization" as const }));
  for (const each of [...given, ...taken]) {
    await recordAuditEvent(tx, { ...each, actorId: userId, clientId, subjectId: userId, from });
  }
}
