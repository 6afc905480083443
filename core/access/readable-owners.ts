import { type Db, db } from "../db.ts";
import type { Actor } from "./actor.ts";
import { acceptedScopes } from "./may.ts";
import { organizationsOf } from "./organizations-of.ts";

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
  const orgIds = await organizationsOf(actor, action, { tx });
  if (actor.kind === "person") return { ...nothing, ownerIds: [actor.userId, ...orgIds] };
  const owned = [
    { id: actor.userId, way: "own" as const, target: {} },
    ...orgIds.map((orgId) => ({ id: orgId, way: "organization" as const, target: { orgId } })),
  ];
  const readable = (made: { makerClientId?: string }) =>
    owned
      .filter(({ way, target }) =>
        acceptedScopes(action, way, actor, { ...target, ...made }).some((scope) => actor.scopes.includes(scope)),
      )
      .map(({ id }) => id);
  const { clientId } = actor;
  const madeIds = clientId === null ? [] : readable({ makerClientId: clientId });
  const madeBy = clientId !== null && madeIds.length > 0 ? { clientId, ownerIds: madeIds } : null;
  return { ...nothing, ownerIds: readable({}), madeBy };
}
