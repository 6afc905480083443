import { afterAll, expect, test } from "vitest";
import { ENTRIES_ABOUT, ENTRIES_ABOUT_IN_APP } from "#core/audit/record-about-somebody.ts";
import { db, pool } from "#core/db.ts";
import { asApp, authorize, prepare, redemption, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const replaysOf = (clientId: string) => db().auditEvent.findMany({ where: { clientId, type: "oauth_token.replay_detected" } });

const liveGrantsOf = (clientId: string) => db().oAuthGrant.count({ where: { clientId, revokedAt: null } });

test("S43 the second use of a code fails with invalid_grant, and ends every token of the Grant", async () => {
  const at = await signIn(world, { isRefreshAllowed: true });
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);

  const replay = await at.redeem();
  expect(replay.status).toBe(400);
  expect(await replay.json()).toMatchObject({ error: "invalid_grant" });

  expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
  const refreshed = await asApp(world, at.app, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: at.tokens.refresh_token,
  });
  expect(await refreshed.json()).toMatchObject({ error: "invalid_grant" });
  expect(await liveGrantsOf(at.app.clientId)).toBe(0);
});

test("S43 the second use of a code ends no other sign-in of the user", async () => {
  const at = await signIn(world);
  const other = await world.signInWith(at.app, at.session, at.browser);
  await at.redeem();
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
  expect((await world.userinfo(other.tokens.access_token)).status).toBe(200);
});

test("S43 S46 a replay without the code verifier ends nothing", async () => {
  const at = await signIn(world);
  const replay = await asApp(world, at.app, "/oauth/token", redemption({ code: at.code, verifier: "x".repeat(43) }));
  expect(await replay.json()).toMatchObject({ error: "invalid_grant" });
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
});

test.each([
  ["public", false],
  ["confidential", true],
])("S44 fifty parallel redemptions of one code of a %s app yield one set of tokens", async (_, isConfidential) => {
  const at = await prepare(world, { isConfidential, isRefreshAllowed: true });
  const { code, verifier } = await authorize(at);
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => asApp(world, at.app, "/oauth/token", redemption({ code, verifier }))),
  );
  const bodies = await Promise.all(responses.map((response) => response.json()));
  const issued = bodies.filter((body) => body.access_token);
  expect(issued).toHaveLength(1);
  expect(bodies.filter((body) => body.error === "invalid_grant")).toHaveLength(49);
  expect(responses.filter(({ status }) => status === 400)).toHaveLength(49);

  expect(await db().oAuthArtifact.count({ where: { clientId: at.app.clientId, model: "AccessToken" } })).toBe(1);
  expect(await db().oAuthArtifact.count({ where: { clientId: at.app.clientId, model: "RefreshToken" } })).toBe(1);
  expect(await liveGrantsOf(at.app.clientId)).toBe(0);
  expect((await world.userinfo(issued[0].access_token)).status).toBe(401);
});

test("S116 repeated replays write one entry, which contains no token", async () => {
  const orgId = await world.organization("paper-works", {});
  const at = await prepare(world, { owner: { orgId } });
  const { code, verifier } = await authorize(at);
  const send = () =>
    world.post(
      "/oauth/token",
      { client_id: at.app.clientId, ...redemption({ code, verifier }) },
      { "user-agent": "a curious client" },
    );
  await Promise.all([send(), send(), send()]);
  await send();
  const replays = await replaysOf(at.app.clientId);
  expect(replays).toMatchObject([
    { subjectId: at.person.id, orgId, ip: "127.0.0.1", userAgent: "a curious client", data: { kind: "AuthorizationCode" } },
  ]);
  expect(JSON.stringify(replays)).not.toContain(code);
});

test("S144 replays of a user's own codes write a limited number of entries", async () => {
  const at = await signIn(world);
  const other = await world.app(at.person);
  const recorded = async (clientId: string, times: number) => {
    await pool().query(
      `INSERT INTO audit_event (id, type, client_id, subject_id)
       SELECT gen_random_uuid(), 'oauth_token.replay_detected', $1, $2 FROM generate_series(1, $3)`,
      [clientId, at.person.id, times],
    );
  };
  const replay = async (app = at.app) => {
    const one = await world.signInWith(app, at.session, at.browser);
    await one.redeem();
    expect((await world.userinfo(one.tokens.access_token)).status).toBe(401);
    return (await replaysOf(app.clientId)).length;
  };
  await recorded(at.app.clientId, ENTRIES_ABOUT_IN_APP - 1);
  expect(await replay()).toBe(ENTRIES_ABOUT_IN_APP);
  expect(await replay()).toBe(ENTRIES_ABOUT_IN_APP);
  expect(await replay(other)).toBe(1);
  await recorded("another", ENTRIES_ABOUT - ENTRIES_ABOUT_IN_APP - 1);
  expect(await replay(other)).toBe(1);
});
