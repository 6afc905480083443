import { afterAll, beforeAll, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { openQuestion } from "../testing/authorization.ts";
import { prepare, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld, type World } from "../testing/world.ts";
import { listConsents } from "./list-consents.ts";
import { revokeConsent } from "./revoke-consent.ts";

/** Connected apps: what a person has let in, and taking it back (S114). */
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const SCOPE = { scope: "openid profile read-repos offline_access" };
const uniqueName = () => `org-${newId()}`;

test("S114 an app is listed with its scopes and organizations, to the person who let it in and to nobody else", async () => {
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

test("an organization that the person has left is no longer named", async () => {
  const at = await prepare(world);
  const orgId = await world.organization(uniqueName(), { [at.person.id]: "read" });
  await (await openQuestion(at, SCOPE)).allow({ orgIds: [orgId] });
  await db().membership.deleteMany({ where: { orgId } });
  expect((await listConsents(at.person.id)).items[0]?.organizations).toEqual([]);
});

test("S138 the list comes in pages, whatever page is asked for", async () => {
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

test("S114 S116 revoking ends the tokens at once, is in the audit log, and leaves other apps alone", async () => {
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

test("S114 a foreign consent, one that is revoked, an unknown one and no id at all answer the same", async () => {
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
