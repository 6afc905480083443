import { isRoleAtLeast } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import { notFound, ServiceError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Actor } from "./actor.ts";
import { isRecentlyAuthenticated } from "./is-recently-authenticated.ts";
import { roleInOrganization } from "./role-in-organization.ts";
import { type Action, type ResourceOf, type Rule, rules } from "./rules.ts";

type Decision = "allowed" | "refused" | "stale";

/**
 * The single decision that every door asks (S135): whether `actor` may do `action` to `resource`, by the table in rules.ts.
 * @param tx pass the transaction in which the change happens, so that the decision and the change see the same members.
 */
export async function may<A extends Action>(actor: Actor, action: A, resource: ResourceOf<A>, tx: Db = db()): Promise<boolean> {
  return (await decide(actor, action, resource, tx)) === "allowed";
}

/**
 * Like `may`, but ends the operation when the answer is no.
 * @param what names the resource in a 404, for example "OAuth app".
 * @throws ServiceError `not_found` or `forbidden`, as the rule says; `reauthentication_required` when the right is there but
 * the proof of who it is has grown old (S113).
 */
export async function requirePermission<A extends Action>(
  actor: Actor,
  action: A,
  resource: ResourceOf<A>,
  { what, tx = db() }: { what: string; tx?: Db },
): Promise<void> {
  const decision = await decide(actor, action, resource, tx);
  if (decision === "allowed") return;
  if (decision === "stale") throw new ServiceError("reauthentication_required", "Confirm your password to go on.");
  if (rules[action].refusal === "not_found") throw notFound(what);
  throw new ServiceError("forbidden", "You may not do this. Ask an administrator for the right.");
}

async function decide<A extends Action>(actor: Actor, action: A, resource: ResourceOf<A>, tx: Db): Promise<Decision> {
  const rule: Rule = rules[action];
  const target = ownership(resource);
  // Ids come from addresses and forms: what is none belongs to nobody, and never reaches the database (S138).
  if ([target.userId, target.orgId].some((id) => id && !isId(id))) return "refused";
  if (actor.kind === "command") return "allowed";
  if (actor.kind === "token" && !isCovered(actor, rule, target.orgId)) return "refused";
  if (!(await hasRight(actor, rule, target, tx))) return "refused";
  if (rule.recent && !(actor.kind === "person" && isRecentlyAuthenticated(actor))) return "stale";
  return "allowed";
}

type Ownership = { userId?: string | null; orgId?: string | null };

function ownership(resource: ResourceOf<Action>): Ownership {
  if (resource === null) return {};
  if ("userId" in resource) return { userId: resource.userId };
  if ("orgId" in resource) return { orgId: resource.orgId };
  return { userId: resource.ownerUserId, orgId: resource.ownerOrgId };
}

/** A token never reaches past its scopes and organizations, whatever its person may do (role ∩ scope ∩ organization). */
function isCovered(actor: Extract<Actor, { kind: "token" }>, rule: Rule, orgId: string | null | undefined): boolean {
  if (!rule.token) return false;
  if (rule.token !== "any" && !actor.scopes.includes(rule.token)) return false;
  return !orgId || actor.orgIds === "all" || actor.orgIds.includes(orgId);
}

async function hasRight(actor: Exclude<Actor, { kind: "command" }>, rule: Rule, target: Ownership, tx: Db): Promise<boolean> {
  if (rule.everyone) return true;
  if (rule.owner && target.userId === actor.userId) return true;
  if (rule.operator && actor.kind === "person" && actor.isOperator) return true;
  if (!rule.role || !target.orgId) return false;
  const role = await roleInOrganization(actor.userId, target.orgId, tx);
  return role !== undefined && isRoleAtLeast(role, rule.role);
}
