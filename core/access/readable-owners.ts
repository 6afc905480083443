import { type Db, db } from "../db.ts";
import type { Actor } from "./actor.ts";
import { organizationsOf } from "./organizations-of.ts";
import { type Rule, rules, type TokenScopes } from "./rules.ts";

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
  // A job that reads for its person reads what they were let into, and none of that is private.
  if (actor.kind === "token" && actor.isReadOnly) return nothing;
  const orgIds = await organizationsOf(actor, action, { tx });
  if (actor.kind === "person") return { ...nothing, ownerIds: [actor.userId, ...orgIds] };
  const { own = [], organization = [], made = [] }: TokenScopes = (rules[action] as Rule).token as TokenScopes;
  const has = (accepted: readonly string[]) => actor.scopes.some((scope) => accepted.includes(scope));
  const forOrganizations = actor.clientId === null ? own : actor.boundOrgId ? [...own, ...organization] : organization;
  // An exchanged token has no part in what is its person's own (S95).
  const ownIds = actor.boundOrgId ? [] : [actor.userId];
  const ownerIds = [...(has(own) ? ownIds : []), ...(has(forOrganizations) ? orgIds : [])];
  const madeBy = actor.clientId !== null && has(made) ? { clientId: actor.clientId, ownerIds: [...ownIds, ...orgIds] } : null;
  return { ...nothing, ownerIds, madeBy };
}
