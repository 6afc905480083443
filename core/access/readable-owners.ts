import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import type { Actor, Person, TokenHolder } from "./actor.ts";
import { type Rule, rules, type TokenScopes } from "./rules.ts";
import { standingsOf } from "./standing-in-organization.ts";

/** Whose private things an actor may read: what lists filter by, where asking `may` of each row would be a query a row. */
export type ReadableOwners = {
  /** Everything. */
  isAll: boolean;
  ownerIds: string[];
  /** Of these owners only what this client made. */
  madeBy: { clientId: string; ownerIds: string[] } | null;
  /** And this one repository. */
  repoId: string | null;
};

const nothing: ReadableOwners = { isAll: false, ownerIds: [], madeBy: null, repoId: null };

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
  if (actor.kind === "publisher") return { ...nothing, repoId: action === "repo.read" ? actor.repoId : null };
  const orgIds = await organizationsOf(actor, rules[action].role, tx);
  if (actor.kind === "person") return { ...nothing, ownerIds: [actor.userId, ...orgIds] };
  const { own = [], organization = [], made = [] }: TokenScopes = (rules[action] as Rule).token as TokenScopes;
  const has = (accepted: readonly string[]) => actor.scopes.some((scope) => accepted.includes(scope));
  const granted = orgIds.filter((orgId) => actor.orgIds === "all" || actor.orgIds.includes(orgId));
  const forOrganizations = actor.clientId === null ? own : actor.boundOrgId ? [...own, ...organization] : organization;
  // An exchanged token has no part in what is its person's own (S95).
  const ownIds = actor.boundOrgId ? [] : [actor.userId];
  const ownerIds = [...(has(own) ? ownIds : []), ...(has(forOrganizations) ? granted : [])];
  const madeBy = actor.clientId !== null && has(made) ? { clientId: actor.clientId, ownerIds: [...ownIds, ...granted] } : null;
  return { ...nothing, ownerIds, madeBy };
}

async function organizationsOf(actor: Person | TokenHolder, least: OrganizationRole, tx: Db): Promise<string[]> {
  const standings = actor.kind === "token" && tx === db() ? actor.standings : undefined;
  const all = standings ?? (await standingsOf(actor.userId, tx));
  return [...all].flatMap(([orgId, { role, restrictions }]) =>
    restrictions.length === 0 && isRoleAtLeast(role, least) ? [orgId] : [],
  );
}
