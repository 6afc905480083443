import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { db, pool } from "#core/db.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { newId } from "#core/ids.ts";
import { upsertArtifact } from "./artifact-store.ts";
import { ACCESS_TOKEN_SECONDS, DEVICE_CODE_SECONDS, REFRESH_TOKEN_IDLE_SECONDS } from "./lifetimes.ts";
import { ask } from "./testing/authorization.ts";
import { asApp, authorize, type Prepared, prepare, redemption, refresh, signIn } from "./testing/sign-in.ts";
import { startWorld, type World } from "./testing/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const ofApp = ({ app }: Prepared) => ({ where: { clientId: app.clientId } });
/** How long each Grant of an app has, from when it was made, in seconds; the latest first. */
async function lifetimes(at: Prepared): Promise<number[]> {
  const grants = await db().oAuthGrant.findMany({ ...ofApp(at), orderBy: { createdAt: "desc" } });
  return grants.map(({ createdAt, expiresAt }) => ((expiresAt?.getTime() ?? 0) - createdAt.getTime()) / 1_000);
}
/** More Grants like the one that an app has: one a second until now, which expire so many seconds later. */
const copies = ({ app }: Prepared, count: number, seconds: number) =>
  pool().query(
    `INSERT INTO oauth_grant (id, consent_id, user_id, client_id, payload, org_ids, created_at, expires_at)
     SELECT left(md5(random()::text), 24), consent_id, user_id, client_id, payload, org_ids, now() - make_interval(secs => n),
            now() - make_interval(secs => n) + make_interval(secs => $1)
       FROM (SELECT * FROM oauth_grant WHERE client_id = $3 LIMIT 1) g, generate_series(1, $2::int) n`,
    [seconds, count, app.clientId],
  );
const near = (seconds: number) => expect.toSatisfy((found: number) => found >= seconds && found < seconds + 60);

describe("S143 a Grant", () => {
  test("that is gone while something is issued under it: the token is none, and no error", async () => {
    const at = await signIn(world);
    const grantId = newId();
    await upsertArtifact("AccessToken", "kh_oauth_late", { grantId, accountId: at.person.id, clientId: at.app.clientId }, 60);
    expect((await world.userinfo("kh_oauth_late")).status).toBe(401);
  });

  test("lives for minutes, and then as long as what is issued under it", async () => {
    const at = await prepare(world, { isRefreshAllowed: true });
    const begun = await authorize(at);
    expect(await lifetimes(at)).toEqual([DEVICE_CODE_SECONDS]);
    const { refresh_token } = await (await asApp(world, at.app, "/oauth/token", redemption(begun))).json();
    expect(await lifetimes(at)).toEqual([near(REFRESH_TOKEN_IDLE_SECONDS)]);
    await db().oAuthGrant.updateMany({ ...ofApp(at), data: { createdAt: new Date(Date.now() - 86_400_000) } });
    expect(await refresh(at, refresh_token)).toMatchObject({ status: 200 });
    expect(await lifetimes(at)).toEqual([near(REFRESH_TOKEN_IDLE_SECONDS + 86_400)]);
    expect(await lifetimes(await signIn(world))).toEqual([near(ACCESS_TOKEN_SECONDS)]);
  });

  test("under which nothing was issued is swept; one with tokens stays", async () => {
    const at = await signIn(world);
    for (let times = 0; times < 3; times++) expect((await ask(at)).answer.code).toBeDefined();
    const past = "UPDATE oauth_grant SET expires_at = expires_at - make_interval(secs => $1) WHERE client_id = $2";
    await pool().query(past, [DEVICE_CODE_SECONDS + 2 * 3_600, at.app.clientId]);
    await sweep(new AbortController().signal);
    expect(await lifetimes(at)).toHaveLength(1);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
  });

  test("of one person at one app gives way to newer ones: those without tokens first, then those that were used longest ago", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    await pool().query("UPDATE oauth_grant SET created_at = created_at - interval '1 day' WHERE client_id = $1", [
      at.app.clientId,
    ]);
    await copies(at, 300, DEVICE_CODE_SECONDS);
    expect((await ask(at)).answer.code).toBeDefined();
    expect(await lifetimes(at)).toHaveLength(201);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
    // Signed in 199 times since, and each time used later.
    await copies(at, 199, 2 * REFRESH_TOKEN_IDLE_SECONDS);
    const code = await authorize(at);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
    await copies(at, 1, 2 * REFRESH_TOKEN_IDLE_SECONDS);
    expect((await ask(at)).answer.code).toBeDefined();
    expect(await lifetimes(at)).toHaveLength(400);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await asApp(world, at.app, "/oauth/token", redemption(code))).status).toBe(200);
  });

  test("that was just made stays, however many with longer lives there are", async () => {
    const at = await signIn(world);
    await copies(at, 300, REFRESH_TOKEN_IDLE_SECONDS);
    expect((await ask(at)).answer.code).toBeDefined();
    expect(await lifetimes(at)).toHaveLength(201);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
  });

  test("of a revoked consent counts with those of the next one, gives way first, and is swept after an hour", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    await copies(at, 250, 2 * REFRESH_TOKEN_IDLE_SECONDS);
    const consent = await db().oAuthConsent.findFirst(ofApp(at));
    const revoked = (ago: string) =>
      pool().query("UPDATE oauth_consent SET revoked_at = now() - $1::interval WHERE client_id = $2 AND id = $3", [
        ago,
        at.app.clientId,
        consent?.id,
      ]);
    await revoked("0");
    const { access_token } = await (await asApp(world, at.app, "/oauth/token", redemption(await authorize(at)))).json();
    await authorize(at);
    expect(await lifetimes(at)).toHaveLength(201);
    expect((await world.userinfo(access_token)).status).toBe(200);
    await sweep(new AbortController().signal);
    expect(await lifetimes(at)).toHaveLength(201);
    await revoked("2 hours");
    await sweep(new AbortController().signal);
    expect(await lifetimes(at)).toHaveLength(2);
    expect((await world.userinfo(access_token)).status).toBe(200);
  });

  test("that is refreshed in a loop keeps its newest tokens, and a replay of one that was held for longer still ends it (S47)", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    const ofModel = "client_id = $1 AND model = $2";
    const values = (model: string) => [at.app.clientId, model];
    // Its app held it for an hour; then somebody else used it, and uses each next one at once.
    await pool().query(
      `UPDATE oauth_artifact SET created_at = now() - interval '1 hour' WHERE ${ofModel}`,
      values("RefreshToken"),
    );
    const stolen = await refresh(at, at.tokens.refresh_token);
    await pool().query(
      `UPDATE oauth_artifact SET consumed_at = now() - interval '1 minute' WHERE ${ofModel} AND consumed_at IS NOT NULL`,
      values("RefreshToken"),
    );
    for (const model of ["RefreshToken", "AccessToken"])
      await pool().query(
        `INSERT INTO oauth_artifact (model, id_hash, grant_id, payload, account_id, client_id, created_at, consumed_at, expires_at)
         SELECT model, md5(random()::text), grant_id, payload, account_id, client_id, now() - interval '1 second',
                CASE model WHEN 'RefreshToken' THEN now() END, expires_at
           FROM (SELECT * FROM oauth_artifact WHERE ${ofModel} LIMIT 1) a, generate_series(1, 240)`,
        values(model),
      );
    const next = await refresh(at, stolen.body.refresh_token);
    const kept = await db().oAuthArtifact.groupBy({
      by: ["model"],
      _count: true,
      where: { clientId: at.app.clientId, model: { in: ["RefreshToken", "AccessToken"] } },
    });
    const counts = Object.fromEntries(kept.map(({ model, _count }) => [model, _count]));
    // Besides: the access token that is stored last, the refresh token that was held for an hour, and the unused one.
    expect(counts).toEqual({ AccessToken: 201, RefreshToken: 202 });
    expect((await world.userinfo(next.body.access_token)).status).toBe(200);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await world.userinfo(next.body.access_token)).status).toBe(401);
  });
});
