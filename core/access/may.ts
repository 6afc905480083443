import { isRoleAtLeast, type OrganizationRole, type Scope, scopes } from "@keyhook/sdk";
import { type Db, db, isTransaction } from "../db.ts";
import { notFound, ServiceError } from "../errors.ts";
import { isId } from "../ids.ts";
import { type Actor, actorId, type Person, type TokenHolder } from "./actor.ts";
import { type Missing, refused, refusedContent } from "./refused.ts";
import type { Rule, TokenScopes } from "./rule.ts";
import { type Action, type ResourceOf, rules } from "./rules.ts";
import { type Standing, standingInOrganization, withoutPresence, withTokenRestrictions } from "./standing-in-organization.ts";

type Decision = "allowed" | "refused" | "stale" | Missing;

/** @param tx the transaction of the change, so that the decision and the change see the same members (S135) */
export async function may<A extends Action>(actor: Actor, action: A, resource: ResourceOf<A>, tx: Db = db()): Promise<boolean> {
  return (await decide(actor, action, targetOf(resource), tx)) === "allowed";
}

/**
 * @param what names the resource in a 404, for example "OAuth app"
 * @throws ServiceError `reauthentication_required` if only a recent authentication is missing (S113)
 */
export async function requirePermission<A extends Action>(
  actor: Actor,
  action: A,
  resource: ResourceOf<A>,
  { what, tx = db() }: { what: string; tx?: Db },
): Promise<void> {
  const target = targetOf(resource);
  const decision = await decide(actor, action, target, tx);
  if (decision === "allowed") return;
  const { refusal, tellsScope }: Rule = rules[action];
  // Members who have the right know that the organization exists.
  const isHeldBack = typeof decision === "object" && "restrictions" in decision;
  const isTokenTooWeak = tellsScope && typeof decision === "object" && ("missing" in decision || isForOwnPrograms(decision));
  if (refusal === "not_found" && !isHeldBack && !isTokenTooWeak) throw decision === "stale" ? stale(actor) : notFound(what);
  if (refusal !== "forbidden" && refusal !== "not_found") {
    const least = await decide(actor, refusal, target, tx);
    if (typeof least === "object" && "restrictions" in least) throw refused(actor, least);
    if (least !== "allowed") throw notFound(what);
  }
  if (decision === "stale") throw stale(actor);
  // Existing clients recognize a gated repository by this code (docs/specification/errors-and-limits.md#headers).
  const wireCode = action === "repo.read_content" ? "GatedRepo" : undefined;
  if (actor.kind === "anonymous") throw new ServiceError("unauthorized", "Sign in, or send a token, to do this.", { wireCode });
  const lacking = decision === "refused" ? (unreached(actor, rules[action], target) ?? decision) : decision;
  throw wireCode ? refusedContent(actor, lacking) : refused(actor, lacking);
}

const isForOwnPrograms = (decision: Missing): boolean => "noToken" in decision && decision.noToken === "own programs";

function stale(actor: Actor): ServiceError {
  const sentence =
    actor.kind === "token"
      ? "This requires a recent sign-in. Sign in again from the command line and retry within 15 minutes, or do this on the website."
      : "Confirm your identity to continue.";
  return new ServiceError("reauthentication_required", sentence);
}

type Target = {
  userId?: string | null;
  orgId?: string | null;
  repoId?: string;
  isPublic?: boolean;
  isGated?: boolean;
  creatorId?: string | null;
  creatorClientId?: string | null;
  authorId?: string | null;
};

function targetOf(resource: ResourceOf<Action>): Target {
  if (resource === null) return {};
  if ("userId" in resource) return { userId: resource.userId };
  if ("orgId" in resource) return { orgId: resource.orgId };
  if ("authorId" in resource) return { ...targetOf(resource.repo), authorId: resource.authorId };
  const owner = { userId: resource.ownerUserId, orgId: resource.ownerOrgId };
  if (!("isPrivate" in resource)) return owner;
  const made = {
    ...owner,
    isPublic: !resource.isPrivate,
    creatorId: resource.createdById,
    creatorClientId: resource.createdByClientId,
  };
  return "repoId" in resource ? { ...made, repoId: resource.repoId, isGated: resource.isGated } : made;
}

async function decide(actor: Actor, action: Action, target: Target, tx: Db): Promise<Decision> {
  const rule: Rule = rules[action];
  // IDs come from URLs and forms, so they may have any form (S138).
  if ([target.userId, target.orgId].some((id) => id && !isId(id))) return "refused";
  if (actor.kind === "command") return "allowed";
  const decision = await decideByRule(actor, rule, target, tx);
  if (decision !== "allowed") return decision;
  if (rule.also) {
    const also = await decide(actor, rule.also, target, tx);
    if (also !== "allowed") return also;
  }
  if (rule.recent && !hasRecentProof(actor)) return "stale";
  return "allowed";
}

/** A personal access token stays in files for months, so it does not prove a recent authentication. */
function hasRecentProof(actor: CheckedActor): boolean {
  if (actor.kind === "person") return isRecentlyAuthenticated(actor);
  const at = actor.kind === "token" && actor.isFirstParty ? actor.authenticatedAt : undefined;
  return at !== undefined && isRecentlyAuthenticated({ authenticatedAt: at });
}

export const isOwnProgram = ({ clientId, isFirstParty, boundOrgId, isReadOnly }: TokenHolder): boolean =>
  (clientId === null || isFirstParty === true) && boundOrgId === undefined && !isReadOnly;

/**
 * Whose limits the actor's actions count towards. CI jobs and apps have limits of their own, so that neither can use up the
 * user's limit.
 * @returns null for an anonymous caller and the operator's command
 */
export function partyOf(actor: Actor): string | null {
  if (actor.kind === "publisher") return `jobs of ${actor.trustedById}`;
  if (actor.kind !== "token" || isOwnProgram(actor)) return actorId(actor);
  return actor.boundOrgId ? `exchange of ${actor.boundOrgId} for ${actor.userId}` : `apps of ${actor.userId}`;
}

type Way = "any" | keyof TokenScopes;

type CheckedActor = Exclude<Actor, { kind: "command" }>;

async function decideByRule(actor: CheckedActor, rule: Rule, target: Target, tx: Db): Promise<Decision> {
  const isOpen = target.isPublic && (rule.public === "read" || (rule.public === "granted" && !target.isGated));
  if (isOpen) return "allowed";
  if (actor.kind === "anonymous") return "refused";
  if (actor.kind === "publisher") return rule.publisher && target.repoId === actor.repoId ? "allowed" : "refused";
  const standing = (rule.role || rule.creator) && target.orgId ? await standingOf(actor, rule, target.orgId, tx) : undefined;
  const isRoleEnough = standing !== undefined && isEnough(standing.role, rule, target.creatorId === actor.userId);
  const ways = await waysOf(actor, rule, target, tx);
  const decision = decideByWays(actor, rule, target, isRoleEnough ? [...ways, "organization"] : ways);
  if (decision === "refused" && standing && !isRoleEnough)
    return { role: standing.role, least: rule.role ?? rule.creator ?? "admin" };
  if (!standing || standing.restrictions.length === 0 || rule.beforeRestrictions || decision !== "allowed") return decision;
  const otherwise = decideByWays(actor, rule, target, ways);
  return otherwise === "allowed" ? otherwise : { restrictions: standing.restrictions };
}

async function standingOf(
  actor: Person | TokenHolder,
  { isReading }: Rule,
  orgId: string,
  tx: Db,
): Promise<Standing | undefined> {
  if (actor.kind === "token" && !reachesOrganization(actor, orgId)) return undefined;
  const isKnown = actor.kind === "token" && actor.standings && isReading && !isTransaction(tx);
  const found = isKnown ? actor.standings?.get(orgId) : await standingInOrganization(actor.userId, orgId, tx);
  const standing = found && withTokenRestrictions(actor, orgId, found);
  return standing && actor.actsForOrgId === orgId ? withoutPresence(standing) : standing;
}

/** Members and non-members get the same error, so that the app learns neither membership nor role. */
function unreached(actor: Actor, rule: Rule, { orgId }: Target): Missing | undefined {
  if (actor.kind !== "token" || actor.isReadOnly || !orgId || !rule.token || !(rule.role || rule.creator)) return undefined;
  if (reachesOrganization(actor, orgId)) return undefined;
  return actor.boundOrgId ? { noToken: "exchanged" } : { ungranted: orgId };
}

async function waysOf(actor: Person | TokenHolder, rule: Rule, target: Target, tx: Db): Promise<Way[]> {
  const ways: Way[] = [];
  if (rule.everyone) ways.push("any");
  if (rule.operator && actor.kind === "person" && (await isOperatorNow(actor, tx))) ways.push("any");
  if (rule.owner && target.userId === actor.userId) ways.push("own");
  if (rule.public === "signed-in" && target.isPublic) ways.push("public");
  if (rule.author && target.authorId === actor.userId) ways.push("public");
  // Granted access is always looked up for a token, because the token may be unable to use its user's other rights.
  const isAskedFor = ways.length === 0 || actor.kind === "token";
  if (rule.public === "granted" && target.isPublic && isAskedFor && target.repoId) {
    if (await hasGrantedAccess(actor.userId, target.repoId, tx)) ways.push("granted");
  }
  return ways;
}

/** In a transaction, the role is read again, because the operator may have lost it. */
async function isOperatorNow({ userId, isOperator }: Person, tx: Db): Promise<boolean> {
  if (!isOperator || !isTransaction(tx)) return isOperator;
  const found = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND is_operator AND disabled_at IS NULL`;
  return found.length > 0;
}

function decideByWays(actor: Person | TokenHolder, rule: Rule, target: Target, ways: Way[]): Decision {
  if (ways.length === 0) return "refused";
  return actor.kind === "person" ? "allowed" : decideForToken(actor, rule, target, ways);
}

function isEnough(role: OrganizationRole, { role: least, creator }: Rule, isCreator: boolean): boolean {
  return (
    (least !== undefined && isRoleAtLeast(role, least)) || (isCreator && creator !== undefined && isRoleAtLeast(role, creator))
  );
}

function decideForToken(token: TokenHolder, rule: Rule, target: Target, ways: Way[]): Decision {
  if (!rule.token) return { noToken: "any" };
  if (rule.ownPrograms && !isOwnProgram(token)) return { noToken: "own programs" };
  const open = ways.filter((way) => isWayOpen(way, token, target));
  if (open.length === 0) return { noToken: token.isReadOnly ? "reading" : "exchanged" };
  if (rule.token === "any") return "allowed";
  const accepted = open.flatMap((way) => scopesFor(way, rule.token as TokenScopes, token, target));
  if (accepted.some((scope) => token.scopes.includes(scope))) return "allowed";
  const [missing] = scopes.filter((scope) => accepted.includes(scope));
  return missing ? { missing } : { noToken: "of an app" };
}

/** Rules 4 and 5 in docs/specification/organizations-and-tokens.md#token-exchange (S95). */
function isWayOpen(way: Way, token: Reach, target: Target): boolean {
  if (token.isReadOnly) return way === "granted";
  if (way === "organization") return target.orgId ? reachesOrganization(token, target.orgId) : !token.boundOrgId;
  return !token.boundOrgId || way === "granted" || target.orgId === token.boundOrgId;
}

export function reachesOrganization({ boundOrgId, orgIds }: Reach, orgId: string): boolean {
  return (boundOrgId === undefined || boundOrgId === orgId) && (orgIds === "all" || orgIds.includes(orgId));
}

type Reach = Pick<TokenHolder, "clientId" | "orgIds" | "boundOrgId" | "isReadOnly" | "isFirstParty">;

export function acceptedScopes(
  action: "repo.read" | "collection.read" | "webhook.manage" | "job.run",
  way: "own" | "organization",
  token: Reach,
  target: { orgId?: string; creatorClientId?: string },
): readonly Scope[] {
  return isWayOpen(way, token, target) ? scopesFor(way, (rules[action] as Rule).token as TokenScopes, token, target) : [];
}

function scopesFor(
  way: Way,
  { own = [], made = [], organization = [], ...others }: TokenScopes,
  token: Reach,
  target: Target,
): readonly Scope[] {
  if (way === "any") return [];
  if (way === "granted" || way === "public") return others[way] ?? [];
  const isMadeByApp = token.clientId !== null && token.clientId === target.creatorClientId;
  const isBound = token.boundOrgId !== undefined && token.boundOrgId === target.orgId;
  // For the user's own programs, the user's own scopes also cover what the user may do in organizations.
  const isOwn = token.clientId === null || token.isFirstParty;
  const standing = way === "own" || isOwn ? own : isBound ? [...own, ...organization] : organization;
  return isMadeByApp ? [...made, ...standing] : standing;
}

async function hasGrantedAccess(userId: string, repoId: string, tx: Db = db()): Promise<boolean> {
  const request = await tx.accessRequest.findUnique({ where: { repoId_userId: { repoId, userId } }, select: { status: true } });
  return request?.status === "accepted";
}

/** See S113. */
export const RECENT_AUTHENTICATION_SECONDS = 15 * 60;

export function isRecentlyAuthenticated({ authenticatedAt }: { authenticatedAt: Date }, now = new Date()): boolean {
  return now.getTime() - authenticatedAt.getTime() < RECENT_AUTHENTICATION_SECONDS * 1000;
}
