import { scopes } from "@keyhook/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { auditTrail, from, organizationOf, outcomes, signedInPerson, staleActor, type TestPerson } from "../testing/people.ts";
import { findPersonalAccessToken } from "./find-personal-access-token.ts";
import { createPersonalAccessToken, listPersonalAccessTokens, revokePersonalAccessToken } from "./personal-access-tokens.ts";

const input = { name: "laptop", scopes: ["write-repos", "openid"], expiresInDays: 30 };
const create = ({ actor, id }: TestPerson, changes: Partial<typeof input> | { expiresInDays: null } = {}) =>
  createPersonalAccessToken(actor, id, { ...input, ...changes }, from);

describe("personal access tokens", () => {
  afterEach(() => void provideSettings({ TOKEN_PREFIX: "kh_" }));

  test("S55 have the prefix and 256 bits, and are stored as a hash", async () => {
    provideSettings({ TOKEN_PREFIX: "hf_" });
    const person = await signedInPerson();
    const organization = await organizationOf(person);
    const { id, token, expiresAt } = await create(person);
    expect(token).toMatch(/^hf_[A-Za-z0-9_-]{43}$/);
    expect((expiresAt as Date).getTime() - Date.now()).toBeCloseTo(30 * 24 * 3600 * 1000, -4);
    expect(await findPersonalAccessToken(token)).toMatchObject({
      id,
      userId: person.id,
      name: "laptop",
      scopes: ["openid", "write-repos"],
      account: {
        username: person.username,
        email: person.email,
        isEmailVerified: true,
        organizations: [{ id: organization.id, name: organization.name, role: "admin", plan: null }],
      },
    });
    expect(JSON.stringify(await db().personalAccessToken.findMany())).not.toContain(token.slice(3));
    const [listed] = await listPersonalAccessTokens(person.actor, person.id);
    expect(listed).toMatchObject({ id, last4: token.slice(-4), isExpired: false });
    expect(listed?.lastUsedAt).not.toBeNull();
  });

  test("S112 do not work once they are revoked or expired, or their user is disabled", async () => {
    const person = await signedInPerson();
    const [revoked, expired, live] = [await create(person), await create(person), await create(person, { expiresInDays: null })];
    await revokePersonalAccessToken(person.actor, revoked.id, from);
    await db().personalAccessToken.update({ where: { id: expired.id }, data: { expiresAt: new Date(Date.now() - 1000) } });
    expect(await findPersonalAccessToken(revoked.token)).toBeUndefined();
    expect(await findPersonalAccessToken(expired.token)).toBeUndefined();
    expect(await findPersonalAccessToken(live.token)).toBeDefined();
    expect((await listPersonalAccessTokens(person.actor, person.id)).map((one) => [one.id, one.isExpired])).toEqual([
      [live.id, false],
      [expired.id, true],
    ]);
    await db().user.update({ where: { id: person.id }, data: { disabledAt: new Date() } });
    expect(await findPersonalAccessToken(live.token)).toBeUndefined();
    expect((await auditTrail({ subjectId: person.id })).slice(-1)).toEqual(["personal_access_token.revoke"]);
  });

  test("S136 of another user get the response for an unknown token when somebody tries to revoke them", async () => {
    const person = await signedInPerson();
    const other = await signedInPerson();
    const { id, token } = await create(person);
    for (const target of [id, newId(), "\0"]) {
      await expect(revokePersonalAccessToken(other.actor, target, from)).rejects.toMatchObject({
        code: "not_found",
        message: "Token not found",
      });
    }
    expect(await findPersonalAccessToken(token)).toBeDefined();
    expect(await outcomes([1, 2, 3].map(() => revokePersonalAccessToken(person.actor, id, from)))).toEqual([
      "not_found",
      "not_found",
      "ok",
    ]);
    await expect(listPersonalAccessTokens(other.actor, person.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(createPersonalAccessToken(other.actor, person.id, input, from)).rejects.toMatchObject({ code: "not_found" });
  });

  test("S113 are created only after a recent authentication, or by the operator's command", async () => {
    const person = await signedInPerson();
    await expect(createPersonalAccessToken(staleActor(person.actor), person.id, input, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    const all = { ...input, scopes };
    const { token } = await createPersonalAccessToken(operatorCommand, person.id, all, from);
    expect((await findPersonalAccessToken(token))?.scopes).toEqual(scopes);
  });

  test.each([
    ["name", { name: "" }],
    ["name", { name: "a\0" }],
    ["name", { name: "x".repeat(61) }],
    ["scopes", { scopes: [] }],
    ["scopes", { scopes: ["openid", "root"] }],
    ["expiresInDays", { expiresInDays: 0 }],
    ["expiresInDays", { expiresInDays: 367 }],
    ["expiresInDays", { expiresInDays: 1.5 }],
    ["expiresInDays", { expiresInDays: Number.NaN }],
  ])("are refused with an error that names the field if the %s is invalid", async (field, bad) => {
    const person = await signedInPerson();
    await expect(create(person, bad)).rejects.toMatchObject({ code: "invalid_request", field });
  });

  test("are refused to unknown and disabled users, and beyond a hundred per user", async () => {
    const person = await signedInPerson();
    await expect(createPersonalAccessToken(operatorCommand, newId(), input, from)).rejects.toMatchObject({ code: "not_found" });
    const row = (n: number) => ({ id: newId(), userId: person.id, name: `${n}`, tokenHash: newId(), last4: "abcd", scopes: [] });
    await db().personalAccessToken.createMany({ data: Array.from({ length: 98 }, (_, n) => row(n)) });
    expect(await outcomes([1, 2, 3, 4].map(() => create(person)))).toEqual(["conflict", "conflict", "ok", "ok"]);
    await db().user.update({ where: { id: person.id }, data: { disabledAt: new Date() } });
    await expect(createPersonalAccessToken(operatorCommand, person.id, input, from)).rejects.toMatchObject({ code: "not_found" });
  });

  test("are not found if they are invalid", async () => {
    for (const token of ["", "kh_", "\0", "\ud800", "x".repeat(100_000)])
      expect(await findPersonalAccessToken(token)).toBeUndefined();
  });
});
