import { type OrganizationRole, organizationRoles, type Scope, scopes } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { type Actor, anonymous, operatorCommand } from "./actor.ts";
import { may } from "./may.ts";
import { readableOwners } from "./readable-owners.ts";

async function insertUser(): Promise<string> {
  const id = newId();
  await db().user.create({
    data: { id, username: id, fullName: id, email: `${id}@example.test`, emailCanonical: `${id}@example.test` },
  });
  return id;
}

const [owner, stranger] = [await insertUser(), await insertUser()];
const orgId = newId();
await db().organization.create({ data: { id: orgId, name: orgId, fullName: orgId } });
const members = {} as Record<OrganizationRole, string>;
for (const role of organizationRoles) {
  members[role] = await insertUser();
  await db().membership.create({ data: { orgId, userId: members[role], role } });
}

const [CLIENT, OTHER_CLIENT] = ["client-a", "client-b"];
const scopeSets: Scope[][] = [
  [],
  ...scopes.filter((scope) => /repos|collections/.test(scope)).map((scope) => [scope]),
  [...scopes],
];
const people = [owner, stranger, ...Object.values(members)];
const persons = people.map(
  (userId): Actor => ({ kind: "person", userId, isOperator: true, sessionId: newId(), authenticatedAt: new Date() }),
);
const tokens = people.flatMap((userId) =>
  scopeSets.flatMap((held) =>
    ([[], [orgId], "all"] as const).flatMap((orgIds) =>
      [null, CLIENT].map((clientId): Actor => ({ kind: "token", userId, scopes: held, orgIds, clientId })),
    ),
  ),
);
const actors: Actor[] = [anonymous, operatorCommand, ...persons, ...tokens];

/** Private things of either owner, made by whom and with which client it may be. */
const things = [
  { ownerUserId: owner, ownerOrgId: null },
  { ownerUserId: null, ownerOrgId: orgId },
].flatMap((owned) =>
  [owner, members.contributor].flatMap((createdById) =>
    [CLIENT, OTHER_CLIENT, null].map((createdByClientId) => ({ ...owned, isPrivate: true, createdById, createdByClientId })),
  ),
);

test.each(["repo.read", "collection.read"] as const)("S135 S136 lists by %s show what may be seen one by one", async (action) => {
  let [readable, hidden] = [0, 0];
  await Promise.all(
    actors.map(async (actor) => {
      const { isAll, ownerIds, madeBy } = await readableOwners(actor, action);
      for (const thing of things) {
        const ownerId = (thing.ownerUserId ?? thing.ownerOrgId) as string;
        const isMade = madeBy?.clientId === thing.createdByClientId && madeBy.ownerIds.includes(ownerId);
        const isListed = isAll || ownerIds.includes(ownerId) || isMade;
        const isAllowed = await may(actor, action, { ...thing, repoId: newId(), isGated: false });
        if (isListed !== isAllowed)
          expect.fail(`listed: ${isListed}, allowed: ${isAllowed}: ${JSON.stringify({ actor, thing })}`);
        if (isListed) readable++;
        else hidden++;
      }
    }),
  );
  expect(readable).toBeGreaterThan(200);
  expect(hidden).toBeGreaterThan(200);
});
