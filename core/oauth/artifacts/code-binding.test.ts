import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { asApp, authorize, type Prepared, prepare, redemption, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { redirectUris: ["https://app.example.test/callback", "https://app.example.test/other"] });
});

const redeem = async (app: Prepared["app"], form: Record<string, string>) => {
  const response = await asApp(world, app, "/oauth/token", form);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const refused = { status: 400, body: { error: "invalid_grant" } };
const storedCode = () =>
  db().oAuthArtifact.findFirstOrThrow({
    where: { model: "AuthorizationCode", clientId: at.app.clientId },
    include: { grant: true },
  });

test("S21 a code has at least 128 random bits, and only its hash is stored", async () => {
  const codes = [await authorize(at), await authorize(at), await authorize(at)].map(({ code }) => code);
  for (const code of codes) expect(code).toMatch(/^[A-Za-z0-9_-]{22,}$/);
  expect(new Set(codes.map((code) => code.slice(0, 8))).size).toBe(3);
  const rows = JSON.stringify(await db().oAuthArtifact.findMany());
  for (const code of codes) expect(rows).not.toContain(code);
});

test("S55 the stored hash of a code or token is not accepted in its place", async () => {
  const asStored = async (model: string) => {
    const { idHash } = await db().oAuthArtifact.findFirstOrThrow({
      where: { model, clientId: app.clientId, consumedAt: null },
      orderBy: { createdAt: "desc" },
    });
    return [idHash, `hashed:${idHash}`];
  };
  const signedIn = await signIn(world, { isRefreshAllowed: true });
  const { app } = signedIn;
  for (const refresh_token of await asStored("RefreshToken"))
    expect(await redeem(app, { grant_type: "refresh_token", refresh_token })).toMatchObject(refused);
  for (const token of await asStored("AccessToken")) {
    expect((await world.userinfo(token)).status).toBe(401);
    await asApp(world, app, "/oauth/revoke", { token });
  }
  expect((await world.userinfo(signedIn.tokens.access_token)).status).toBe(200);
  const authorized = await authorize(signedIn);
  for (const code of await asStored("AuthorizationCode"))
    expect(await redeem(app, redemption({ ...authorized, code }))).toMatchObject(refused);
  expect(await redeem(app, redemption(authorized))).toMatchObject({ status: 200 });
});

test("S21 a code expires after at most 60 seconds", async () => {
  const authorized = await authorize(at);
  const { createdAt, expiresAt, payload } = await storedCode();
  expect((expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) - createdAt.getTime()).toBeLessThanOrEqual(60_000);
  const { iat, exp } = payload as { iat: number; exp: number };
  expect(exp - iat).toBeLessThanOrEqual(60);
  await db()
    .$executeRaw`UPDATE oauth_artifact SET payload = jsonb_set(payload, '{exp}', to_jsonb(${Math.floor(Date.now() / 1000) - 1}::int))
    WHERE model = 'AuthorizationCode' AND client_id = ${at.app.clientId}`;
  expect(await redeem(at.app, redemption(authorized))).toMatchObject(refused);
});

describe("S21 a code is bound to", () => {
  test("S21 its client", async () => {
    const authorized = await authorize(at);
    const thief = await prepare(world);
    expect(await redeem(thief.app, redemption(authorized))).toMatchObject(refused);
    const secretive = await prepare(world, { isConfidential: true });
    expect(await redeem(secretive.app, redemption(authorized))).toMatchObject(refused);
  });

  test("S21 its redirect URI", async () => {
    const authorized = await authorize(at);
    const elsewhere = redemption(authorized, { redirect_uri: "https://app.example.test/other" });
    expect(await redeem(at.app, elsewhere)).toMatchObject(refused);
    const { redirect_uri: _, ...without } = redemption(authorized);
    expect((await redeem(at.app, without)).status).toBe(400);
  });

  test("S21 its code challenge", async () => {
    const authorized = await authorize(at);
    const other = await authorize(at);
    expect(await redeem(at.app, redemption({ ...authorized, verifier: other.verifier }))).toMatchObject(refused);
    const { code_verifier: _, ...without } = redemption(authorized);
    expect((await redeem(at.app, without)).status).toBe(400);
  });

  test("S21 its user, the user's consent and the user's organizations", async () => {
    const orgId = await world.organization(`o-${newId()}`, { [at.person.id]: "read" });
    const authorized = await authorize(at, { orgIds: orgId });
    const { accountId, grant } = await storedCode();
    expect(accountId).toBe(at.person.id);
    expect(grant).toMatchObject({ userId: at.person.id, clientId: at.app.clientId, orgIds: [orgId], isAllOrgs: false });

    const more = await world.organization(`p-${newId()}`, { [at.person.id]: "read" });
    await authorize(at, { orgIds: more, prompt: "consent", scope: "openid profile email" }, { orgIds: [orgId, more] });
    const { status, body } = await redeem(at.app, redemption(authorized));
    expect(status).toBe(200);
    expect(body.scope).toBe("openid profile");
    const claims = (await (await world.userinfo(String(body.access_token))).json()) as { orgs: { sub: string }[] };
    expect(claims.orgs.map(({ sub }) => sub)).toEqual([orgId]);
  });

  test("S21 its consent, which the user may revoke before the redemption", async () => {
    const authorized = await authorize(at);
    await db().oAuthConsent.updateMany({ where: { clientId: at.app.clientId }, data: { revokedAt: new Date() } });
    expect(await redeem(at.app, redemption(authorized))).toMatchObject(refused);
  });
});
