import { isRoleAtLeast } from "@keyhook/sdk";
import type { Person } from "../../access/actor.ts";
import { rules } from "../../access/rules.ts";
import { listOrganizations } from "../../accounts/organizations/list-organizations.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { Collection } from "./collection.ts";
import { readCollections } from "./read-collections.ts";

const CHOICES_MAX = 200;

/** Those that a person may change, the latest changed first: what they choose among when they add a repository to one. */
export async function listChangeableCollections(person: Person): Promise<Collection[]> {
  const { role, maker } = rules["collection.write"];
  const organizations = await listOrganizations(person.userId);
  const idsFrom = (least: typeof role | typeof maker) =>
    organizations.filter((one) => isRoleAtLeast(one.role, least)).map(({ id }) => id);
  return readCollections(
    Prisma.sql`c.owner_id = ANY(${[person.userId, ...idsFrom(role)]})
      OR (c.owner_id = ANY(${idsFrom(maker)}) AND c.created_by_id = ${person.userId})`,
    { tail: Prisma.sql`ORDER BY c.updated_at DESC, c.id LIMIT ${CHOICES_MAX}` },
  );
}
