import { type Db, db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import type { Actor } from "./actor.ts";
import { acceptedScopes } from "./may.ts";
import { organizationsOf } from "./organizations-of.ts";

/** Lists use this, because `may` would cost a query for each row. */
export type ReadableOwners = {
  isAll: boolean;
  ownerIds: string[];
  madeBy: { clientId: string; ownerIds: string[] } | null;
  repoId: string | null;
};

const nothing: ReadableOwners = { isAll: false, ownerIds: [], madeBy: null, repoId: null };

/** Must decide as `may` does, which a test checks. */
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
  const readable = (made: { creatorClientId?: string }) =>
    owned
      .filter(({ way, target }) =>
        acceptedScopes(action, way, actor, { ...target, ...made }).some((scope) => actor.scopes.includes(scope)),
      )
      .map(({ id }) => id);
  const { clientId } = actor;
  const madeIds = clientId === null ? [] : readable({ creatorClientId: clientId });
  const madeBy = clientId !== null && madeIds.length > 0 ? { clientId, ownerIds: madeIds } : null;
  return { ...nothing, ownerIds: readable({}), madeBy };
}

export function readableWhere(alias: "c" | "r", readable: ReadableOwners): Prisma.Sql {
  const column = (name: string) => Prisma.raw(`${alias}.${name}`);
  const reads = readsPrivate(readable, column("owner_id"), column("created_by_client_id"));
  const trusted = alias === "r" && readable.repoId !== null ? Prisma.sql`OR r.id = ${readable.repoId}` : Prisma.empty;
  return Prisma.sql`(NOT ${column("is_private")} OR ${reads} ${trusted})`;
}

/** The resource of event `e` must be readable now and at the event's time. LEFT JOIN a possibly deleted repository as `r`. */
export function readableEvent(readable: ReadableOwners): Prisma.Sql {
  const reads = (ownerId: string) => readsPrivate(readable, Prisma.raw(ownerId), Prisma.sql`r.created_by_client_id`);
  return Prisma.sql`((NOT e.is_private OR ${reads("e.owner_id")}) AND (r.id IS NULL OR NOT r.is_private OR ${reads("r.owner_id")}))`;
}

function readsPrivate({ isAll, ownerIds, madeBy }: ReadableOwners, ownerId: Prisma.Sql, creatorClientId: Prisma.Sql): Prisma.Sql {
  if (isAll) return Prisma.sql`TRUE`;
  const made = madeBy
    ? Prisma.sql`OR coalesce(${creatorClientId} = ${madeBy.clientId} AND ${ownerId} = ANY (${madeBy.ownerIds}), false)`
    : Prisma.empty;
  return Prisma.sql`(${ownerId} = ANY (${ownerIds}) ${made})`;
}
