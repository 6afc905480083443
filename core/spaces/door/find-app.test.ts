import { expect, it } from "vitest";
import { standingsOf } from "../../access/standing-in-organization.ts";
import { organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { findApp } from "./find-app.ts";

it("S136 a member who does not meet the organization's requirements gets the same response for a private and a missing Space", async () => {
  const [admin, member] = [await signedInPerson(), await signedInPerson()];
  const { id, name: owner } = await organizationOf(admin, [[member, "read"]]);
  const { name } = await someRepo(admin, { type: "space", owner, isPrivate: true });
  await db().organization.update({ where: { id }, data: { requiresSecondStep: true } });
  const session = { ...member.actor, id: member.actor.sessionId, user: { isOperator: false } };
  const token = {
    kind: "token",
    userId: member.id,
    tokenId: "a token",
    scopes: ["read-repos"],
    orgIds: "all",
    clientId: null,
  } as const;
  for (const credentials of [
    { method: "GET" },
    { method: "GET", bySession: async () => session },
    { method: "POST", bySession: async () => session },
    { method: "GET", byToken: async () => ({ ...token, standings: await standingsOf(member.id) }) },
  ]) {
    const [hidden, missing] = await Promise.all(
      [name, "missing"].map((each) =>
        findApp({ owner, name: each, rest: "/" }, credentials).catch(({ code, message }) => [code, message]),
      ),
    );
    expect(hidden).toEqual(missing);
  }
});
