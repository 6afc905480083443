import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import type { Actor } from "./actor.ts";
import { type Rule, rules, type TokenScopes } from "./rules.ts";

/** Whose private things an actor may read: what lists filter by, where asking `may` of each row would be a query a row. */
export type ReadableOwners = {
  /** Everything. */
  isAll: boolean;
  ownerIds: string[];
  /** Of these owners only what this client made. */
  madeBy: { clientId: string; ownerIds: string[] } | null;
};

const nothing: ReadableOwners = { isAll: false, ownerIds: [], madeBy: null };

/**
 * The owners whose private repositories (`repo.read`) or collections (`collection.read`) an actor may read. It says for lists what
 * `may` says for one; a test holds the two against each other.
 */
export async function readableOwners(
  actor: Actor,
  action: "repo.read" | "collection.read",
  tx: Db = db(),
): Promise<ReadableOwners> {
  if (actor.kind === "anonymous") return nothing;
  if (actor.kind === "command") return { ...nothing, isAll: true };
  const orgIds = await organizationsOf(actor.userId, rules[action].role, tx);
  if (actor.kind === "person") return { ...nothing, ownerIds: [actor.userId, ...orgIds] };
  const { own = [], organization = [], made = [] }: TokenScopes = (rules[action] as Rule).token as TokenScopes;
  const has = (accepted: readonly string[]) => actor.scopes.some((scope) => accepted.includes(scope));
  const granted = orgIds.filter((orgId) => actor.orgIds === "all" || actor.orgIds.includes(orgId));
  const ownerIds = [...(has(own) ? [actor.userId] : []), ...(has(actor.clientId === null ? own : organization) ? granted : [])];
  const madeBy = actor.clientId !== null && has(made) ? { clientId: actor.clientId, ownerIds: [actor.userId, ...granted] } : null;
  return { isAll: false, ownerIds, madeBy };
}

async function organizationsOf(userId: string, least: OrganizationRole, tx: Db): Promise<string[]> {
  const memberships = await tx.membership.findMany({ where: { userId }, select: { orgId: true, role: true } });
  return memberships.flatMap(({ orgId, role }) => (isRoleAtLeast(role as OrganizationRole, least) ? [orgId] : []));
}
