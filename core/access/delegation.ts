import type { CreatedBy, Scope } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import { ServiceError } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { newId } from "../ids.ts";
import type { Actor, Person, TokenHolder } from "./actor.ts";
import { acceptedScopes, isOwnProgram } from "./may.ts";
import { membersWhoMay } from "./members-who-may.ts";
import type { Standing } from "./standing-in-organization.ts";

/** A delegation records the rights of the token that created a webhook, run, schedule, replay or relay (decision 071). */

export const DELEGATION_CHANNEL = "delegation";

/** Call this in the transaction that stores the resource. */
export async function recordDelegation(tx: Db, actor: Actor): Promise<string | null> {
  if (actor.kind !== "token") return null;
  const { userId, tokenId, clientId, boundOrgId = null } = actor;
  const scopes = [...actor.scopes].sort();
  const isAllOrgs = actor.orgIds === "all";
  const orgIds = actor.orgIds === "all" ? [] : [...actor.orgIds].sort();
  const consentId = await lockToken(tx, actor);
  const same = { userId, tokenId, clientId, boundOrgId, isAllOrgs, consentId, endedAt: null };
  // Only a recent row is reused, because housekeeping might be deleting an older one.
  const known = await tx.delegation.findFirst({
    where: {
      ...same,
      scopes: { equals: scopes },
      orgIds: { equals: orgIds },
      createdAt: { gt: new Date(Date.now() - REUSED_MS) },
    },
    select: { id: true },
  });
  if (known) return known.id;
  const id = newId();
  await tx.delegation.create({ data: { ...same, id, scopes, orgIds } });
  return id;
}

/** A revocation waits for this lock, so it finds the new delegation. Overlapping shared locks could make it wait forever. */
async function lockToken(tx: Db, { userId, tokenId, clientId, boundOrgId }: TokenHolder): Promise<string | null> {
  const held = async (rows: Prisma.Sql) => {
    const [row] = await tx.$queryRaw<{ id: string }[]>`${rows} FOR NO KEY UPDATE`;
    if (!row) throw new ServiceError("unauthorized", "This token's access was revoked. Sign in again, or use another token.");
    return row.id;
  };
  if (clientId === null) {
    await held(Prisma.sql`SELECT id FROM personal_access_token WHERE id = ${tokenId} AND revoked_at IS NULL`);
    return null;
  }
  // The consent is locked before the Grant, as in a revocation.
  const consentId =
    boundOrgId === undefined
      ? await held(Prisma.sql`SELECT id FROM oauth_consent
          WHERE id = (SELECT consent_id FROM oauth_grant WHERE id = ${tokenId}) AND revoked_at IS NULL AND user_id = ${userId}`)
      : null;
  await held(Prisma.sql`SELECT id FROM oauth_grant WHERE id = ${tokenId} AND revoked_at IS NULL`);
  return consentId;
}

/** Housekeeping deletes an unused delegation two days after its creation. An upload URL may use its delegation for a day. */
const REUSED_MS = 3_600_000;

export type ActsFor = { createdById: string | null; delegationId: string | null; ownerKind: string; ownerId: string };

export async function findDelegate(
  { createdById, delegationId, ownerKind, ownerId }: ActsFor,
  tx: Db = db(),
): Promise<Actor | undefined> {
  const found = delegationId !== null ? await findTokenDelegate(delegationId, tx) : await findPersonDelegate(createdById, tx);
  return found && ownerKind === "organization" ? { ...found, actsForOrgId: ownerId } : found;
}

async function findPersonDelegate(id: string | null, tx: Db): Promise<Person | undefined> {
  const live = id === null ? 0 : await tx.user.count({ where: { id, disabledAt: null } });
  return id === null || live === 0 ? undefined : absent(id);
}

const absent = (userId: string): Person => ({
  kind: "person",
  userId,
  isOperator: false,
  sessionId: "",
  authenticatedAt: new Date(0),
});

type Kind = "own" | "app" | "exchanged";
type LiveRow = {
  userId: string;
  clientId: string | null;
  tokenId: string;
  boundOrgId: string | null;
  kind: Kind;
  scopes: Scope[];
  isAllOrgs: boolean;
  standings: (Standing & { orgId: string })[];
};

async function findTokenDelegate(id: string, tx: Db): Promise<TokenHolder | undefined> {
  const [row] = await tx.$queryRaw<LiveRow[]>`
    SELECT n.user_id AS "userId", n.client_id AS "clientId", n.token_id AS "tokenId", n.bound_org_id AS "boundOrgId", n.kind, n.scopes,
      n.is_all_orgs AS "isAllOrgs", (
        SELECT coalesce(json_agg(json_build_object('orgId', m.org_id, 'role', m.role, 'restrictions',
            m.restrictions || CASE WHEN ${isCutOff} THEN ARRAY['token-revoked'] ELSE '{}' END)), '[]')
        FROM member_standing m WHERE m.user_id = n.user_id AND (n.is_all_orgs OR m.org_id = ANY (n.org_ids)) AND ${isAdmitted}
      ) AS standings
    FROM live_delegation n WHERE n.id = ${id}`;
  if (!row) return undefined;
  const { userId, clientId, tokenId, boundOrgId, kind, scopes, isAllOrgs, standings } = row;
  return {
    kind: "token",
    ...{ userId, clientId, tokenId, scopes },
    // For an app, "all" means all organizations that admit the app (S32).
    orgIds: isAllOrgs && clientId === null ? "all" : standings.map(({ orgId }) => orgId),
    ...(boundOrgId !== null && { boundOrgId }),
    ...(kind === "own" && clientId !== null && { isFirstParty: true as const }),
    standings: new Map(standings.map(({ orgId, ...standing }) => [orgId, standing])),
  };
}

const isCutOff = Prisma.sql`EXISTS (SELECT 1 FROM organization_revoked_token x WHERE x.org_id = m.org_id AND x.token_id = n.token_id)`;
const isAdmitted = Prisma.sql`(n.client_id IS NULL OR is_app_admitted(m.org_id, n.client_id))`;

type RowAction = "repo.read" | "webhook.manage" | "job.run";

/** SQL that is true if a stored resource may act now. `ownerId` is the user or organization that owns the resource. */
export function mayAct(action: "webhook.manage" | "job.run", delegationId: Prisma.Sql, ownerId: Prisma.Sql): Prisma.Sql {
  return delegationMay(action, delegationId, ownerId, Prisma.sql`NULL::text`);
}

/**
 * @param delegationId null for a resource that may read everything that its owner may read
 * @param creatorClientId a client that may always read the repository, because it created the repository
 */
export function delegationReads(
  delegationId: Prisma.Sql,
  ownerId: Prisma.Sql,
  creatorClientId: Prisma.Sql = Prisma.sql`NULL::text`,
): Prisma.Sql {
  return delegationMay("repo.read", delegationId, ownerId, creatorClientId);
}

/** Must decide as `may` does, which a test checks. Ignores sign-in requirements, which watchers.ts checks for users' webhooks. */
function delegationMay(
  action: RowAction,
  delegationId: Prisma.Sql,
  ownerId: Prisma.Sql,
  creatorClientId: Prisma.Sql,
): Prisma.Sql {
  const isScopeEnough = (way: "own" | "organization") => {
    const cases = kinds.map((kind) => {
      const [plain, made] = [acceptedBy(action, kind, way, false), acceptedBy(action, kind, way, true)];
      return Prisma.sql`WHEN ${Prisma.raw(`'${kind}'`)} THEN CASE WHEN ${creatorClientId} = n.client_id THEN ${made} ELSE ${plain} END`;
    });
    return Prisma.sql`n.scopes && CASE n.kind ${Prisma.join(cases, " ")} END`;
  };
  return Prisma.sql`(${delegationId} IS NULL OR EXISTS (SELECT 1 FROM live_delegation n WHERE n.id = ${delegationId} AND (
    (n.user_id = ${ownerId} AND ${isScopeEnough("own")})
    OR (${isScopeEnough("organization")} AND (n.is_all_orgs OR ${ownerId} = ANY (n.org_ids))
      AND (n.bound_org_id IS NULL OR n.bound_org_id = ${ownerId})
      AND EXISTS (SELECT 1 FROM member_standing m WHERE m.org_id = ${ownerId} AND m.user_id = n.user_id
        AND ${membersWhoMay(action, null, { isPresent: false })} AND ${isAdmitted} AND NOT ${isCutOff})))))`;
}

const kinds: readonly Kind[] = ["own", "app", "exchanged"];

function acceptedBy(action: RowAction, kind: Kind, way: "own" | "organization", isMade: boolean): Prisma.Sql {
  const [clientId, orgId] = ["a client", "an organization"];
  const token = {
    clientId: kind === "own" ? null : clientId,
    orgIds: "all" as const,
    ...(kind === "exchanged" && { boundOrgId: orgId }),
  };
  const target = { ...(way === "organization" && { orgId }), ...(isMade && { creatorClientId: clientId }) };
  const accepted = acceptedScopes(action, way, token, target);
  return Prisma.raw(`ARRAY[${accepted.map((scope) => `'${scope}'`).join(", ")}]::text[]`);
}

/** For Grants that the service ends, such as leaked ones. Delegations outlive a Grant that an app ends by signing out. */
export async function endDelegationsOf(tx: Db, tokenIds: readonly string[]): Promise<void> {
  await tx.delegation.updateMany({ where: { tokenId: { in: [...tokenIds] }, endedAt: null }, data: { endedAt: new Date() } });
}

export type MadeWith = {
  id: string;
  kind: "app" | "token";
  isOwnProgram: boolean;
  clientId: string | null;
  name: string | null;
  isEnded: boolean;
};

export async function describeDelegations(ids: readonly (string | null)[], tx: Db = db()): Promise<Map<string, MadeWith>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  if (wanted.length === 0) return new Map();
  const rows = await tx.$queryRaw<MadeWith[]>`
    SELECT d.id, CASE WHEN d.client_id IS NULL THEN 'token' ELSE 'app' END AS kind, d.client_id AS "clientId",
      d.client_id IS NULL OR a.is_first_party IS TRUE AS "isOwnProgram",
      coalesce(a.name, k.metadata->>'client_name', p.name) AS name, n.id IS NULL AS "isEnded"
    FROM delegation d
    LEFT JOIN live_delegation n ON n.id = d.id
    LEFT JOIN oauth_app a ON a.client_id = d.client_id
    LEFT JOIN oauth_client_document k ON k.client_id = d.client_id
    LEFT JOIN personal_access_token p ON p.id = d.token_id
    WHERE d.id = ANY (${wanted})`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** An app must not learn which other apps its user uses, or what the user's tokens are called. */
export function createdByJson(
  { createdById, madeWith }: { createdById: string | null; madeWith: MadeWith | null },
  reader: Actor,
): CreatedBy {
  if (!madeWith) return { type: "user", userId: createdById };
  const isAnothers = reader.kind === "token" && !isOwnProgram(reader) && madeWith.clientId !== reader.clientId;
  if (isAnothers) return { type: madeWith.isOwnProgram ? "user" : "app", userId: createdById };
  const { kind, clientId, name } = madeWith;
  return { type: kind, userId: createdById, ...(clientId !== null && { clientId }), ...(name !== null && { name }) };
}

/** An app that changed another app's resource would use the other app's rights (confused deputy). */
export async function requireOwnWorkOf(tx: Db, actor: Actor, delegationId: string | null, what: string): Promise<void> {
  const madeWith = await describeDelegations([delegationId], tx);
  requireOwnWork(actor, madeWith.get(delegationId ?? "") ?? null, what);
}

export function requireOwnWork(actor: Actor, madeWith: MadeWith | null, what: string): void {
  if (actor.kind !== "token" || isOwnProgram(actor) || madeWith === null || madeWith.clientId === actor.clientId) return;
  throw new ServiceError(
    "forbidden",
    `Another app or token created or last changed this ${what}. It can be changed on the website, in its owner's settings.`,
  );
}
