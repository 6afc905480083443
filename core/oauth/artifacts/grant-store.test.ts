import { afterAll, describe, expect, test } from "vitest";
import { db, pool } from "#core/db.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { newId } from "#core/ids.ts";
import { ACCESS_TOKEN_SECONDS, DEVICE_CODE_SECONDS, REFRESH_TOKEN_IDLE_SECONDS } from "../lifetimes.ts";
import { ask } from "../testing/authorization.ts";
import { asApp, authorize, type Prepared, prepare, redemption, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { upsertArtifact } from "./artifact-store.ts";

const world = await startWorld();
afterAll(() => world.stop());

const ofApp = ({ app }: Prepared) => ({ where: { clientId: app.clientId } });
async function lifetimes(at: Prepared): Promise<number[]> {
  const grants = await db().oAuthGrant.findMany({ ...ofApp(at), orderBy: { createdAt: "desc" } });
  return grants.map(({ createdAt, expiresAt }) => ((expiresAt?.getTime() ?? 0) - createdAt.getTime()) / 1_000);
}
/** Creates a copy for each of the past `count` seconds. Each copy lives `seconds`. */
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
  test("that is deleted while a token is issued makes this token invalid", async () => {
    const at = await signIn(world);
    const grantId = newId();
    await upsertArtifact("AccessToken", "kh_oauth_late", { grantId, accountId: at.person.id, clientId: at.app.clientId }, 60);
    expect((await world.userinfo("kh_oauth_late")).status).toBe(401);
  });

  test("without tokens lives for minutes, and any other as long as its tokens", async () => {
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

  test("without tokens is swept", async () => {
    const at = await signIn(world);
    for (let times = 0; times < 3; times++) expect((await ask(at)).answer.code).toBeDefined();
    const past = "UPDATE oauth_grant SET expires_at = expires_at - make_interval(secs => $1) WHERE client_id = $2";
    await pool().query(past, [DEVICE_CODE_SECONDS + 2 * 3_600, at.app.clientId]);
    await sweep(new AbortController().signal);
    expect(await lifetimes(at)).toHaveLength(1);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
  });

  test("is deleted when its user has too many newer Grants at the app", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    await pool().query("UPDATE oauth_grant SET created_at = created_at - interval '1 day' WHERE client_id = $1", [
      at.app.clientId,
    ]);
    await copies(at, 300, DEVICE_CODE_SECONDS);
    expect((await ask(at)).answer.code).toBeDefined();
    expect(await lifetimes(at)).toHaveLength(201);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
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

  test("is deleted when its user has too many Grants at all apps together", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    const total = () => db().oAuthGrant.count({ where: { userId: at.person.id } });
    await copies(at, 199, 2 * REFRESH_TOKEN_IDLE_SECONDS);
    await pool().query(
      `WITH other AS (
         INSERT INTO oauth_consent SELECT (jsonb_populate_record(c, jsonb_build_object('id', left(md5(c.id || n), 24), 'client_id', c.client_id || n))).*
           FROM oauth_consent c, generate_series(1, 10) n WHERE c.client_id = $1 RETURNING id, client_id)
       INSERT INTO oauth_grant SELECT (jsonb_populate_record(g, jsonb_build_object('id', left(md5(g.id || o.id), 24), 'client_id', o.client_id, 'consent_id', o.id))).*
         FROM oauth_grant g, other o WHERE g.client_id = $1`,
      [at.app.clientId],
    );
    expect(await total()).toBe(2_200);
    const code = await authorize(at);
    expect(await total()).toBe(2_000);
    expect((await asApp(world, at.app, "/oauth/token", redemption(code))).status).toBe(200);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
  });

  test("that was just created stays, even if Grants with longer lifetimes exceed the limit", async () => {
    const at = await signIn(world);
    await copies(at, 300, REFRESH_TOKEN_IDLE_SECONDS);
    expect((await ask(at)).answer.code).toBeDefined();
    expect(await lifetimes(at)).toHaveLength(201);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
  });

  test("of a revoked consent is deleted before those of the next consent", async () => {
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

  test("that is refreshed in a loop ends when a token whose row was deleted is replayed (S47)", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    const stolen = await refresh(at, at.tokens.refresh_token);
    for (const model of ["RefreshToken", "AccessToken"])
      await pool().query(
        `INSERT INTO oauth_artifact (model, id_hash, grant_id, payload, account_id, client_id, created_at, consumed_at, expires_at)
         SELECT model, md5(random()::text), grant_id, payload, account_id, client_id, now(),
                CASE model WHEN 'RefreshToken' THEN now() END, expires_at
           FROM (SELECT * FROM oauth_artifact WHERE client_id = $1 AND model = $2 LIMIT 1) a, generate_series(1, 240)`,
        [at.app.clientId, model],
      );
    const next = await refresh(at, stolen.body.refresh_token);
    const kept = await db().oAuthArtifact.groupBy({
      by: ["model"],
      _count: true,
      where: { clientId: at.app.clientId, model: { in: ["RefreshToken", "AccessToken"] } },
    });
    const counts = Object.fromEntries(kept.map(({ model, _count }) => [model, _count]));
    expect(counts).toEqual({ AccessToken: 201, RefreshToken: 201 });
    expect((await world.userinfo(next.body.access_token)).status).toBe(200);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await world.userinfo(next.body.access_token)).status).toBe(401);
    const replay = { type: "oauth_token.replay_detected", clientId: at.app.clientId, subjectId: at.person.id };
    expect(await db().auditEvent.count({ where: replay })).toBe(1);
  });

  test("can be revoked with a used refresh token whose row was deleted", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    const other = await signIn(world);
    const next = await refresh(at, at.tokens.refresh_token);
    await pool().query("DELETE FROM oauth_artifact WHERE client_id = $1 AND consumed_at IS NOT NULL", [at.app.clientId]);
    await asApp(world, other.app, "/oauth/revoke", { token: at.tokens.refresh_token });
    const refused = await refresh({ ...at, app: other.app }, at.tokens.refresh_token);
    expect(refused).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await world.userinfo(next.body.access_token)).status).toBe(200);
    await asApp(world, at.app, "/oauth/revoke", { token: `${at.tokens.refresh_token}=` });
    expect((await world.userinfo(next.body.access_token)).status).toBe(200);
    expect((await asApp(world, at.app, "/oauth/revoke", { token: at.tokens.refresh_token })).status).toBe(200);
    expect((await world.userinfo(next.body.access_token)).status).toBe(401);
  });
});
