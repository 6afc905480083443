import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { lockOwner } from "../owners/lock-owner.ts";
import { ownerColumns } from "../repos/repo.ts";
import { COLLECTIONS_MAX_PER_OWNER, type Collection, slugOf, themes } from "./collection.ts";
import { parseDescription, parseTheme, parseTitle } from "./parse-collection.ts";
import { lockCollection, readCollections } from "./read-collections.ts";

export type NewCollection = {
  /** The handle of a user or an organization. */
  owner: string;
  title: string;
  description?: string | null;
  theme?: string;
  isPrivate?: boolean;
};

/**
 * Creates an empty collection, or returns the owner's collection of that title: a program that runs again continues with it.
 * @throws ServiceError `invalid_request`, `not_found` (the owner), `forbidden`, `insufficient_scope`, `conflict` (too many)
 */
export async function createCollection(
  actor: Actor,
  input: NewCollection,
  from: RequestOrigin,
): Promise<{ outcome: "created" | "exists"; collection: Collection }> {
  const title = parseTitle(input.title);
  const description = parseDescription(input.description);
  const theme = parseTheme(input.theme ?? themes[1]);
  const owner = await findOwner(input.owner);
  if (!owner) throw notFound("Owner");
  const ask = (tx: Db) => requirePermission(actor, "collection.create", ownerColumns(owner), { what: "Owner", tx });
  await ask(db());
  return db().$transaction(async (tx) => {
    await lockOwner(tx, owner);
    await lockCollectionsOf(tx, owner.id);
    await ask(tx);
    const [same] = await readCollections(Prisma.sql`c.owner_id = ${owner.id} AND lower(c.title) = lower(${title})`, { tx });
    if (same) return { outcome: "exists", collection: same };
    if ((await tx.collection.count({ where: { ownerId: owner.id } })) >= COLLECTIONS_MAX_PER_OWNER) {
      throw new ServiceError("conflict", `${owner.handle} has ${COLLECTIONS_MAX_PER_OWNER} collections. Delete one first.`);
    }
    const id = newId();
    await tx.collection.create({
      data: {
        id,
        ownerId: owner.id,
        ownerKind: owner.kind,
        slug: slugOf(title),
        title,
        description,
        theme,
        isPrivate: input.isPrivate ?? false,
        createdById: actorId(actor),
        createdByClientId: clientIdOf(actor),
      },
    });
    await recordAuditEvent(tx, {
      type: "collection.create",
      actorId: actorId(actor),
      orgId: owner.kind === "organization" ? owner.id : null,
      clientId: clientIdOf(actor),
      data: { collectionId: id, title, isPrivate: input.isPrivate ?? false },
      from,
    });
    return { outcome: "created", collection: (await lockCollection(tx, id)) as Collection };
  });
}

/** Serializes changes that concern all collections of an owner (titles, order, their number). */
export async function lockCollectionsOf(tx: Db, ownerId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`collections ${ownerId}`}, 0))`;
}
