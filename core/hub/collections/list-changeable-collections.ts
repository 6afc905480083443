import type { Person } from "../../access/actor.ts";
import { organizationsOf } from "../../access/organizations-of.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { Collection } from "./collection.ts";
import { readCollections } from "./read-collections.ts";

const CHOICES_MAX = 200;

/** The collections that a person may change, the latest changed first: the choice when they add a repository to one. */
export async function listChangeableCollections(person: Person): Promise<Collection[]> {
  const [whole, made] = await Promise.all([
    organizationsOf(person, "collection.write"),
    organizationsOf(person, "collection.write", { asMaker: true }),
  ]);
  return readCollections(
    Prisma.sql`c.owner_id = ANY(${[person.userId, ...whole]}) OR (c.owner_id = ANY(${made}) AND c.created_by_id = ${person.userId})`,
    { tail: Prisma.sql`ORDER BY c.updated_at DESC, c.id LIMIT ${CHOICES_MAX}` },
  );
}
