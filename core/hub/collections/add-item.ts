import type { Actor } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { type Collection, ITEMS_MAX } from "./collection.ts";
import { findCollectionToChange } from "./find-collection.ts";
import { parseNote } from "./parse-collection.ts";

export type NewItem = { repo: RepoName; note?: string | null };

/**
 * Adds a repository that the actor may read to the end of a collection.
 * @throws ServiceError `not_found` (the collection or the repository), `conflict` (already in it, or the collection is full),
 * `invalid_request`, `forbidden`, `insufficient_scope`
 */
export async function addItem(actor: Actor, slug: string, { repo: name, note }: NewItem): Promise<Collection> {
  const text = parseNote(note);
  return db().$transaction(async (tx) => {
    const collection = await findCollectionToChange(tx, actor, slug);
    const repo = await findRepo(actor, name, "repo.read", tx);
    const { _count: count, _max: last } = await tx.collectionItem.aggregate({
      where: { collectionId: collection.id },
      _count: true,
      _max: { position: true },
    });
    if (await tx.collectionItem.findFirst({ where: { collectionId: collection.id, repoId: repo.id }, select: { id: true } })) {
      throw new ServiceError("conflict", `${repo.fullName} is in this collection already.`, { field: "item" });
    }
    if (count >= ITEMS_MAX) throw new ServiceError("conflict", `A collection holds at most ${ITEMS_MAX} repositories.`);
    await tx.collectionItem.create({
      data: { id: newId(), collectionId: collection.id, repoId: repo.id, position: (last.position ?? -1) + 1, note: text },
    });
    const updatedAt = new Date();
    await tx.collection.update({ where: { id: collection.id }, data: { updatedAt } });
    return { ...collection, updatedAt };
  });
}
