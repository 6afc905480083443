import { type OrganizationRole, organizationRoles, type Scope, scopes } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { type Actor, anonymous, operatorCommand, type Person, type TokenHolder } from "./actor.ts";
import { may } from "./may.ts";
import { membersWhoMay } from "./members-who-may.ts";
import { type MembersAction, organizationsOf } from "./organizations-of.ts";
import { readableOwners } from "./readable-owners.ts";
import { standingsOf } from "./standing-in-organization.ts";

async function insertUser(): Promise<string> {
  const id = newId();
  await db().user.create({
    data: { id, username: id, fullName: id, email: `${id}@example.test`, emailCanonical: `${id}@example.test` },
  });
  return id;
}

const [owner, stranger, unmet] = [await insertUser(), await insertUser(), await insertUser()];
const [orgId, otherOrgId] = [newId(), newId()];
await db().organization.create({ data: { id: orgId, name: orgId, fullName: orgId, requiresSecondStep: true } });
await db().organization.create({ data: { id: otherOrgId, name: otherOrgId, fullName: otherOrgId } });
const members = {} as Record<OrganizationRole, string>;
for (const role of organizationRoles) {
  members[role] = await insertUser();
  await db().membership.create({ data: { orgId, userId: members[role], role } });
  await db().totp.create({ data: { userId: members[role], sealedSecret: Buffer.from("sealed"), confirmedAt: new Date() } });
}
await db().membership.create({ data: { orgId, userId: unmet, role: "write" } });
for (const userId of [unmet, members.admin]) await db().membership.create({ data: { orgId: otherOrgId, userId, role: "admin" } });
type Standings = Awaited<ReturnType<typeof standingsOf>>;
const standings = new Map<string, Standings>();
for (const userId of [owner, stranger, unmet, ...Object.values(members)]) standings.set(userId, await standingsOf(userId));

const [CLIENT, OTHER_CLIENT] = ["client-a", "client-b"];
const scopeSets: Scope[][] = [
  [],
  ...scopes.filter((scope) => /repos|collections/.test(scope)).map((scope) => [scope]),
  [...scopes],
];
const people = [owner, stranger, unmet, ...Object.values(members)];
const persons = people.map(
  (userId): Actor => ({ kind: "person", userId, isOperator: true, sessionId: newId(), authenticatedAt: new Date() }),
);
const tokens = people.flatMap((userId) =>
  scopeSets.flatMap((held) =>
    ([[], [orgId], "all"] as const).flatMap((orgIds) =>
      [null, CLIENT].map(
        (clientId): TokenHolder => ({ kind: "token", tokenId: "a token", userId, scopes: held, orgIds, clientId }),
      ),
    ),
  ),
);
const firstParty = tokens.filter(({ clientId }) => clientId !== null).map((token) => ({ ...token, isFirstParty: true as const }));
const exchanged = tokens.filter(({ clientId }) => clientId !== null).map((token) => ({ ...token, boundOrgId: orgId }));
const warm = [...tokens, ...firstParty, ...exchanged].map((token) => ({
  ...token,
  standings: standings.get(token.userId) as Standings,
}));
const cold = [...tokens, ...firstParty, ...exchanged].filter((_, at) => at % 7 === 0);
const reading = people.map((userId): TokenHolder => {
  return { kind: "token", tokenId: "a token", userId, scopes: [...scopes], orgIds: "all", clientId: null, isReadOnly: true };
});
const jobRepoId = newId();
const job: Actor = { kind: "publisher", publisherId: newId(), trustedById: newId(), repoId: jobRepoId, description: "run 7" };
const actors: Actor[] = [anonymous, operatorCommand, job, ...persons, ...warm, ...cold, ...reading];

const things = [
  { ownerUserId: owner, ownerOrgId: null },
  { ownerUserId: null, ownerOrgId: orgId },
  { ownerUserId: null, ownerOrgId: otherOrgId },
].flatMap((owned) =>
  [owner, members.contributor].flatMap((createdById) =>
    [CLIENT, OTHER_CLIENT, null].map((createdByClientId) => ({ ...owned, isPrivate: true, createdById, createdByClientId })),
  ),
);

test.each(["repo.read", "collection.read"] as const)("S135 S136 lists by %s equal what `may` allows", async (action) => {
  let [readable, hidden] = [0, 0];
  await Promise.all(
    actors.map(async (actor) => {
      const { isAll, ownerIds, madeBy, repoId } = await readableOwners(actor, action);
      for (const [at, thing] of things.entries()) {
        const id = at === 0 ? jobRepoId : newId();
        const ownerId = (thing.ownerUserId ?? thing.ownerOrgId) as string;
        const isMade = madeBy?.clientId === thing.createdByClientId && madeBy.ownerIds.includes(ownerId);
        const isListed = isAll || ownerIds.includes(ownerId) || isMade || (action === "repo.read" && repoId === id);
        const isAllowed = await may(actor, action, { ...thing, repoId: id, isGated: false });
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

test("S95 an exchanged token lists only its organization's resources, whatever its Grant says", async () => {
  for (const token of exchanged) {
    const { ownerIds, madeBy } = await readableOwners(
      { ...token, standings: standings.get(token.userId) as Standings },
      "repo.read",
    );
    expect([...ownerIds, ...(madeBy?.ownerIds ?? [])].filter((id) => id !== orgId)).toEqual([]);
  }
});

test.each(["repo.read", "repo.manage"] as const)(
  "S135 S129 `membersWhoMay` finds exactly the members whom `may` allows %s",
  async (action) => {
    for (const createdById of [null, members.contributor, members.read]) {
      const found = await db().$queryRaw<{ userId: string }[]>`
      SELECT m.user_id AS "userId" FROM member_standing m WHERE m.org_id = ${orgId} AND ${membersWhoMay(action, createdById)}`;
      const repo = {
        ownerUserId: null,
        ownerOrgId: orgId,
        isPrivate: true,
        isGated: false,
        repoId: newId(),
        createdByClientId: null,
      };
      const allowed: string[] = [];
      for (const person of persons as Person[])
        if (await may(person, action, { ...repo, createdById })) allowed.push(person.userId);
      expect(found.map(({ userId }) => userId).sort()).toEqual(allowed.sort());
      expect(allowed.length).toBeGreaterThan(1);
    }
  },
);

test("S135 `organizationsOf` finds exactly the organizations in which `may` allows the action", async () => {
  const actions: MembersAction[] = [
    "repo.create",
    "organization.list_members",
    "organization.read_membership",
    "organization.manage",
  ];
  const holders = tokens.filter(({ clientId, scopes: held }) => clientId === null && held.length === scopes.length);
  for (const actor of [...(persons as Person[]), ...holders]) {
    for (const action of actions) {
      const allowed: string[] = [];
      for (const id of [orgId, otherOrgId]) {
        const resource = action === "repo.create" ? { ownerUserId: null, ownerOrgId: id } : { orgId: id };
        const asMember = actor.kind === "person" ? { ...actor, isOperator: false } : actor;
        if (await may(asMember, action, resource as never)) allowed.push(id);
      }
      if (actor.kind === "token" && action === "organization.manage") continue;
      expect([actor, action, (await organizationsOf(actor, action)).sort()]).toEqual([actor, action, allowed.sort()]);
    }
  }
});
