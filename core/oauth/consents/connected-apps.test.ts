import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, inTransaction, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { openQuestion } from "../testing/authorization.ts";
import { prepare, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { listConsents } from "./list-consents.ts";
import { revokeConsent } from "./revoke-consent.ts";
import { lockConsents } from "./store-answer.ts";

const world = await startWorld();
afterAll(() => world.stop());

const SCOPE = { scope: "openid profile read-repos offline_access" };
const uniqueName = () => `org-${newId()}`;

test("S114 an app is listed only for the user who allowed it", async () => {
  const at = await prepare(world, { name: "Paper Lantern" });
  const orgId = await world.organization(uniqueName(), { [at.person.id]: "write" });
  await (await openQuestion(at, SCOPE)).allow({ orgIds: [orgId], scopes: ["openid", "profile"] });

  const { items, total } = await listConsents(at.person.id);
  expect(total).toBe(1);
  expect(items).toMatchObject([
    {
      clientId: at.app.clientId,
      name: "Paper Lantern",
      scopes: ["openid", "profile"],
      organizations: [{ id: orgId }],
      isAllOrgs: false,
      lastUsedAt: null,
    },
  ]);
  expect(items[0]?.firstUsedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
  const other = await prepare(world);
  expect((await listConsents(other.person.id)).items).toEqual([]);
});

test("an organization that the user has left is no longer listed", async () => {
  const at = await prepare(world);
  const orgId = await world.organization(uniqueName(), { [at.person.id]: "read" });
  await (await openQuestion(at, SCOPE)).allow({ orgIds: [orgId] });
  await db().membership.deleteMany({ where: { orgId } });
  expect((await listConsents(at.person.id)).items[0]?.organizations).toEqual([]);
});

test("S138 the list is paged and accepts any page number", async () => {
  const at = await prepare(world);
  for (let count = 0; count < 3; count++) {
    await (await openQuestion({ ...at, app: await world.app(at.person) }, SCOPE)).allow();
  }
  const pages = await Promise.all([1, 2, 3].map((page) => listConsents(at.person.id, { page, pageSize: 2 })));
  expect(pages.map(({ items, total }) => [items.length, total])).toEqual([
    [2, 3],
    [1, 3],
    [0, 3],
  ]);
  const all = new Set(pages.flatMap(({ items }) => items.map(({ clientId }) => clientId)));
  expect(all.size).toBe(3);
  for (const page of [Number.NaN, -1, 1e308]) expect((await listConsents(at.person.id, { page })).total).toBe(3);
});

test("S143 above 1,000 consents of a user, the oldest revoked ones are deleted", async () => {
  const at = await prepare(world);
  await pool().query(
    `INSERT INTO oauth_consent (id, user_id, client_id, client_fingerprint, revoked_at)
     SELECT $1 || n, $1, 'https://app.example/' || n, '', CASE WHEN n <= 2 THEN now() - make_interval(secs => n) END
       FROM generate_series(1, 1000) n`,
    [at.person.id],
  );
  const allow = async () => (await openQuestion({ ...at, app: await world.app(at.person) }, SCOPE)).allow();
  const revoked = () => db().oAuthConsent.findMany({ where: { userId: at.person.id, revokedAt: { not: null } } });
  await allow();
  expect((await revoked()).map(({ clientId }) => clientId)).toEqual(["https://app.example/1"]);
  await allow();
  expect(await db().oAuthConsent.count({ where: { userId: at.person.id, revokedAt: null } })).toBe(1_000);
  await expect(allow()).rejects.toMatchObject({ code: "conflict" });
  expect(await db().oAuthConsent.count({ where: { userId: at.person.id } })).toBe(1_000);
});

test("S114 S116 a revoked consent ends the app's tokens at once", async () => {
  const one = await signIn(world, { isConfidential: true }, SCOPE);
  const app = await world.app(one.person, { isConfidential: true });
  const two = { ...one, app, ...(await world.signInWith(app, one.session, one.browser, SCOPE)) };
  const consentTo = async (clientId: string) =>
    (await listConsents(one.person.id)).items.find((each) => each.clientId === clientId)?.consentId ?? "";

  await revokeConsent(one.session, await consentTo(one.app.clientId), noOrigin);
  expect((await world.userinfo(one.tokens.access_token)).status).toBe(401);
  expect(await refresh(one, one.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect((await world.userinfo(two.tokens.access_token)).status).toBe(200);
  expect((await listConsents(one.person.id)).items.map(({ clientId }) => clientId)).toEqual([app.clientId]);
  expect(await db().auditEvent.findFirst({ where: { type: "oauth_consent.revoke", clientId: one.app.clientId } })).toMatchObject({
    actorId: one.person.id,
  });
});

test("S114 revoking waits for an answer that is being stored", async () => {
  const { person, session, app } = await signIn(world, {}, SCOPE);
  const { consentId = "" } = (await listConsents(person.id)).items[0] ?? {};
  const [locked, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const storing = inTransaction(async (tx) => {
    await lockConsents(tx, { userId: person.id, clientId: app.clientId });
    locked.resolve();
    await stored.promise;
  });
  await locked.promise;
  let isRevoked = false;
  const revoking = revokeConsent(session, consentId, noOrigin).then(() => {
    isRevoked = true;
  });
  await delay(300);
  const wasRevoked = isRevoked;
  stored.resolve();
  await Promise.all([storing, revoking]);
  expect(wasRevoked).toBe(false);
  expect((await listConsents(person.id)).total).toBe(0);
});

test("S114 another user's consent, a revoked or unknown consent and an invalid ID get the same response", async () => {
  const [mine, theirs] = [await signIn(world, {}, SCOPE), await signIn(world, {}, SCOPE)];
  const [own, foreign] = await Promise.all(
    [mine, theirs].map(async ({ person }) => (await listConsents(person.id)).items[0]?.consentId ?? ""),
  );
  await revokeConsent(mine.session, own as string, noOrigin);
  for (const id of [own as string, foreign as string, newId(), "", "\0", "no id"]) {
    await expect(revokeConsent(mine.session, id, noOrigin)).rejects.toMatchObject({
      code: "not_found",
      message: "Connected app not found",
    });
  }
  expect((await world.userinfo(theirs.tokens.access_token)).status).toBe(200);
});
