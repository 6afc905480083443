import { isRoleAtLeast, type OrganizationRole, type Scope, scopes } from "@keyhook/sdk";
import { type Db, db, isTransaction } from "../db.ts";
import { notFound, ServiceError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Actor, Person, TokenHolder } from "./actor.ts";
import { hasGrantedAccess } from "./has-granted-access.ts";
import { isRecentlyAuthenticated } from "./is-recently-authenticated.ts";
import { type Missing, refused, refusedContent } from "./refused.ts";
import { type Action, type ResourceOf, type Rule, rules, type TokenScopes } from "./rules.ts";
import { type Standing, standingInOrganization, withoutPresence, withTokenRestrictions } from "./standing-in-organization.ts";

type Decision = "allowed" | "refused" | "stale" | Missing;

/**
 * The single decision that every door asks (S135): whether `actor` may do `action` to `resource`, by the table in rules.ts.
 * @param tx pass the transaction in which the change happens, so that the decision and the change see the same members.
 */
export async function may<A extends Action>(actor: Actor, action: A, resource: ResourceOf<A>, tx: Db = db()): Promise<boolean> {
  return (await decide(actor, action, targetOf(resource), tx)) === "allowed";
}

/**
 * Like `may`, but ends the operation when the answer is no.
 * @param what names the resource in a 404, for example "OAuth app".
 * @throws ServiceError `not_found` or `forbidden`, as the rule says; `insufficient_scope` where the person may and the token may not;
 * `forbidden` naming what is missing where a role, a grant of the organization or what it asks of its members is;
 * `unauthorized` where nobody is signed in and somebody might; `reauthentication_required` when the right is there but the proof of
 * who it is has grown old (S113).
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
  // Whoever has the right and has yet to meet what the organization asks is told so: they know of it, being a member.
  const isHeldBack = typeof decision === "object" && "restrictions" in decision;
  const lacksTokenOnly = tellsScope && typeof decision === "object" && ("missing" in decision || isForOwnPrograms(decision));
  if (refusal === "not_found" && !isHeldBack && !lacksTokenOnly) throw decision === "stale" ? stale(actor) : notFound(what);
  if (refusal !== "forbidden" && refusal !== "not_found") {
    const least = await decide(actor, refusal, target, tx);
    if (typeof least === "object" && "restrictions" in least) throw refused(actor, least);
    if (least !== "allowed") throw notFound(what);
  }
  if (decision === "stale") throw stale(actor);
  // What existing clients know a gated repository by, whoever asks (docs/specification/errors-and-limits.md#headers).
  const wireCode = action === "repo.read_content" ? "GatedRepo" : undefined;
  if (actor.kind === "anonymous") throw new ServiceError("unauthorized", "Sign in, or send a token, to do this.", { wireCode });
  const lacking = decision === "refused" ? (unreached(actor, rules[action], target) ?? decision) : decision;
  throw wireCode ? refusedContent(actor, lacking) : refused(actor, lacking);
}

const isForOwnPrograms = (decision: Missing): boolean => "noToken" in decision && decision.noToken === "own programs";

function stale(actor: Actor): ServiceError {
  const sentence =
    actor.kind === "token"
      ? "This takes a proof of a short while ago that it is you: sign in with the command line anew, and do it within 15 minutes; or do it on the pages of this service."
      : "Confirm that it is you to go on.";
  return new ServiceError("reauthentication_required", sentence);
}

/** The facts of any resource, under one name each. */
type Target = {
  userId?: string | null;
  orgId?: string | null;
  repoId?: string;
  isPublic?: boolean;
  isGated?: boolean;
  makerId?: string | null;
  makerClientId?: string | null;
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
    makerId: resource.createdById,
    makerClientId: resource.createdByClientId,
  };
  return "repoId" in resource ? { ...made, repoId: resource.repoId, isGated: resource.isGated } : made;
}

async function decide(actor: Actor, action: Action, target: Target, tx: Db): Promise<Decision> {
  const rule: Rule = rules[action];
  // Ids come from addresses and forms: what is none belongs to nobody, and never reaches the database (S138).
  if ([target.userId, target.orgId].some((id) => id && !isId(id))) return "refused";
  if (actor.kind === "command") return "allowed";
  const decision = await decideAlone(actor, rule, target, tx);
  if (decision !== "allowed") return decision;
  if (rule.also) {
    const also = await decide(actor, rule.also, target, tx);
    if (also !== "allowed") return also;
  }
  if (rule.recent && !hasRecentProof(actor)) return "stale";
  return "allowed";
}

/** A token that a person made says nothing of when they last proved who they are: it lies in files and variables for months. */
function hasRecentProof(actor: Decided): boolean {
  if (actor.kind === "person") return isRecentlyAuthenticated(actor);
  const at = actor.kind === "token" && actor.isFirstParty ? actor.authenticatedAt : undefined;
  return at !== undefined && isRecentlyAuthenticated({ authenticatedAt: at });
}

/** Whether a token is in the hands of its person, and of nobody else whom they let in. */
export const isOwnProgram = ({ clientId, isFirstParty, boundOrgId, isReadOnly }: TokenHolder): boolean =>
  (clientId === null || isFirstParty === true) && boundOrgId === undefined && !isReadOnly;

/** What gives a person the right; each has its own scopes for tokens. */
type Way = "any" | keyof TokenScopes;

type Decided = Exclude<Actor, { kind: "command" }>;

async function decideAlone(actor: Decided, rule: Rule, target: Target, tx: Db): Promise<Decision> {
  const isOpen = target.isPublic && (rule.public === "read" || (rule.public === "granted" && !target.isGated));
  if (isOpen) return "allowed";
  if (actor.kind === "anonymous") return "refused";
  if (actor.kind === "publisher") return rule.publisher && target.repoId === actor.repoId ? "allowed" : "refused";
  const standing = (rule.role || rule.maker) && target.orgId ? await standingOf(actor, rule, target.orgId, tx) : undefined;
  const isRoleEnough = standing !== undefined && isEnough(standing.role, rule, target.makerId === actor.userId);
  const ways = await waysOf(actor, rule, target, tx);
  const decision = decideByWays(actor, rule, target, isRoleEnough ? [...ways, "organization"] : ways);
  if (decision === "refused" && standing && !isRoleEnough)
    return { role: standing.role, least: rule.role ?? rule.maker ?? "admin" };
  if (!standing || standing.restrictions.length === 0 || rule.beforeRestrictions || decision !== "allowed") return decision;
  const otherwise = decideByWays(actor, rule, target, ways);
  return otherwise === "allowed" ? otherwise : { restrictions: standing.restrictions };
}

/** Where the actor's person stands in an organization: as it was read with their token, but for a change anew. */
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

/**
 * That a token does not reach the organization: said to all alike, member or not, since what its person is there is not for an app to
 * know to which the organization was not granted.
 */
function unreached(actor: Actor, rule: Rule, { orgId }: Target): Missing | undefined {
  if (actor.kind !== "token" || actor.isReadOnly || !orgId || !rule.token || !(rule.role || rule.maker)) return undefined;
  if (reachesOrganization(actor, orgId)) return undefined;
  return actor.boundOrgId ? { noToken: "exchanged" } : { ungranted: orgId };
}

/** What else than membership gives the right. */
async function waysOf(actor: Person | TokenHolder, rule: Rule, target: Target, tx: Db): Promise<Way[]> {
  const ways: Way[] = [];
  if (rule.everyone) ways.push("any");
  if (rule.operator && actor.kind === "person" && actor.isOperator) ways.push("any");
  if (rule.owner && target.userId === actor.userId) ways.push("own");
  if (rule.public === "signed-in" && target.isPublic) ways.push("public");
  // What somebody wrote stays theirs to change for as long as they may see where it stands (`also`).
  if (rule.author && target.authorId === actor.userId) ways.push("public");
  // A token may have no use of what else its person has: of an organization, say, that is not granted to the app.
  const isAskedFor = ways.length === 0 || actor.kind === "token";
  if (rule.public === "granted" && target.isPublic && isAskedFor && target.repoId) {
    if (await hasGrantedAccess(actor.userId, target.repoId, tx)) ways.push("granted");
  }
  return ways;
}

function decideByWays(actor: Person | TokenHolder, rule: Rule, target: Target, ways: Way[]): Decision {
  if (ways.length === 0) return "refused";
  return actor.kind === "person" ? "allowed" : decideForToken(actor, rule, target, ways);
}

function isEnough(role: OrganizationRole, { role: least, maker }: Rule, isMaker: boolean): boolean {
  return (least !== undefined && isRoleAtLeast(role, least)) || (isMaker && maker !== undefined && isRoleAtLeast(role, maker));
}

/** A token never reaches past its scopes and organizations, whatever its person may do (role ∩ scope ∩ organization). */
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

/**
 * An exchanged token acts in its organization alone; outside it only reads, which leaves the gated repositories that its person was
 * let into (rules 4 and 5 in docs/specification/organizations-and-tokens.md#token-exchange; S95). What is open to everybody was decided
 * before.
 */
function isWayOpen(way: Way, token: Reach, target: Target): boolean {
  if (token.isReadOnly) return way === "granted";
  if (way === "organization") return target.orgId ? reachesOrganization(token, target.orgId) : !token.boundOrgId;
  return !token.boundOrgId || way === "granted" || target.orgId === token.boundOrgId;
}

/** Whether an organization is granted to whom the token is for, and is the one that an exchanged token is for. */
export function reachesOrganization({ boundOrgId, orgIds }: Reach, orgId: string): boolean {
  return (boundOrgId === undefined || boundOrgId === orgId) && (orgIds === "all" || orgIds.includes(orgId));
}

/** What decides how far a token reaches, besides its scopes. */
type Reach = Pick<TokenHolder, "clientId" | "orgIds" | "boundOrgId" | "isReadOnly" | "isFirstParty">;

/**
 * The scopes of which a token needs one where a way gives its person the right: none where that way is closed to it. Lists and
 * conditions on many rows are derived from the rules by this, and so agree with `may`.
 */
export function acceptedScopes(
  action: "repo.read" | "collection.read" | "webhook.manage" | "job.run",
  way: "own" | "organization",
  token: Reach,
  target: { orgId?: string; makerClientId?: string },
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
  const isMadeByApp = token.clientId !== null && token.clientId === target.makerClientId;
  const isBound = token.boundOrgId !== undefined && token.boundOrgId === target.orgId;
  // Apps reach an organization's things by the scopes that say so; a token that a person made for themselves reaches all of theirs (as
  // does the service's own command line, in the organizations that were granted to it), and an exchanged one means its organization wherever a scope means the person's own.
  const isOwn = token.clientId === null || token.isFirstParty;
  const standing = way === "own" || isOwn ? own : isBound ? [...own, ...organization] : organization;
  return isMadeByApp ? [...made, ...standing] : standing;
}
