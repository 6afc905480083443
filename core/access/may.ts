import { isRoleAtLeast, type OrganizationRole, type Scope, scopes } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import { notFound, ServiceError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Actor, Person, TokenHolder } from "./actor.ts";
import { hasGrantedAccess } from "./has-granted-access.ts";
import { isRecentlyAuthenticated } from "./is-recently-authenticated.ts";
import { roleInOrganization } from "./role-in-organization.ts";
import { type Action, type ResourceOf, type Rule, rules, type TokenScopes } from "./rules.ts";

type Decision = "allowed" | "refused" | "stale" | { missing: Scope };

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
  const { refusal }: Rule = rules[action];
  if (refusal === "not_found") throw decision === "stale" ? stale() : notFound(what);
  if (refusal !== "forbidden" && (await decide(actor, refusal, target, tx)) !== "allowed") throw notFound(what);
  if (decision === "stale") throw stale();
  // What existing clients know a gated repository by, whoever asks (wire.md 1.13).
  const wireCode = action === "repo.read_content" ? "GatedRepo" : undefined;
  if (actor.kind === "anonymous") throw new ServiceError("unauthorized", "Sign in, or send a token, to do this.", { wireCode });
  if (decision !== "refused") {
    const { missing: scope } = decision;
    throw new ServiceError("insufficient_scope", `The token lacks the scope ${scope}.`, { scope, wireCode });
  }
  if (wireCode) {
    throw new ServiceError("forbidden", "Access to this repository is restricted. Ask for it on the repository's page.", {
      wireCode,
    });
  }
  // For a token it may be either: what its person has no right to, and what no token of its kind can be used for.
  const who = actor.kind === "token" ? "You, or this token, may not do this." : "You may not do this.";
  throw new ServiceError("forbidden", `${who} Ask an administrator for the right.`);
}

const stale = () => new ServiceError("reauthentication_required", "Confirm your password to go on.");

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
  if (rule.recent && !(actor.kind === "person" && isRecentlyAuthenticated(actor))) return "stale";
  return "allowed";
}

/** What gives a person the right; each has its own scopes for tokens. */
type Way = "any" | keyof TokenScopes;

async function decideAlone(actor: Exclude<Actor, { kind: "command" }>, rule: Rule, target: Target, tx: Db): Promise<Decision> {
  const isOpen = target.isPublic && (rule.public === "read" || (rule.public === "granted" && !target.isGated));
  if (isOpen) return "allowed";
  if (actor.kind === "anonymous") return "refused";
  const ways = await waysOf(actor, rule, target, tx);
  if (ways.length === 0) return "refused";
  if (actor.kind === "person") return "allowed";
  return decideForToken(actor, rule, target, ways);
}

async function waysOf(actor: Person | TokenHolder, rule: Rule, target: Target, tx: Db): Promise<Way[]> {
  const ways: Way[] = [];
  if (rule.everyone) ways.push("any");
  if (rule.operator && actor.kind === "person" && actor.isOperator) ways.push("any");
  if (rule.owner && target.userId === actor.userId) ways.push("own");
  if ((rule.role || rule.maker) && target.orgId) {
    const role = await roleInOrganization(actor.userId, target.orgId, tx);
    if (role && isEnough(role, rule, target.makerId === actor.userId)) ways.push("organization");
  }
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

function isEnough(role: OrganizationRole, { role: least, maker }: Rule, isMaker: boolean): boolean {
  return (least !== undefined && isRoleAtLeast(role, least)) || (isMaker && maker !== undefined && isRoleAtLeast(role, maker));
}

/** A token never reaches past its scopes and organizations, whatever its person may do (role ∩ scope ∩ organization). */
function decideForToken(token: TokenHolder, rule: Rule, target: Target, ways: Way[]): Decision {
  if (!rule.token) return "refused";
  const isOrganizationCovered = !target.orgId || token.orgIds === "all" || token.orgIds.includes(target.orgId);
  const open = ways.filter((way) => way !== "organization" || isOrganizationCovered);
  if (open.length === 0) return "refused";
  if (rule.token === "any") return "allowed";
  const accepted = open.flatMap((way) => scopesFor(way, rule.token as TokenScopes, token, target));
  if (accepted.some((scope) => token.scopes.includes(scope))) return "allowed";
  const [missing] = scopes.filter((scope) => accepted.includes(scope));
  return missing ? { missing } : "refused";
}

function scopesFor(
  way: Way,
  { own = [], made = [], ...others }: TokenScopes,
  token: TokenHolder,
  target: Target,
): readonly Scope[] {
  if (way === "any") return [];
  if (way === "granted" || way === "public") return others[way] ?? [];
  const isMadeByApp = token.clientId !== null && token.clientId === target.makerClientId;
  // Apps reach an organization's things by the scopes that say so; a token that a person made for themselves reaches all of theirs.
  const standing = way === "own" || token.clientId === null ? own : (others.organization ?? []);
  return isMadeByApp ? [...made, ...standing] : standing;
}
