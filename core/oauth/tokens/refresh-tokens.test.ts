import { afterAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { removeMember } from "#core/accounts/organizations/members.ts";
import { disableUser } from "#core/accounts/users/disable-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { deleteApp } from "../apps/transfer-app.ts";
import { updateApp } from "../apps/update-app.ts";
import { REFRESH_TOKEN_ABSOLUTE_SECONDS, REFRESH_TOKEN_IDLE_SECONDS } from "../lifetimes.ts";
import { asApp, prepare, refresh, type SignIn, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const withRefresh = { isRefreshAllowed: true };

const age = (clientId: string, seconds: number) =>
  pool().query(
    `UPDATE oauth_artifact SET consumed_at = consumed_at - make_interval(secs => $2)
      WHERE model = 'RefreshToken' AND client_id = $1 AND consumed_at IS NOT NULL`,
    [clientId, seconds],
  );

const userinfo = async (token: string) => (await world.userinfo(token)).json();
const replaysOf = (clientId: string) => db().auditEvent.findMany({ where: { clientId, type: "oauth_token.replay_detected" } });

describe("a refresh token is issued", () => {
  test("only if the app requests offline_access or always gets refresh tokens", async () => {
    expect((await signIn(world, withRefresh)).tokens.refresh_token).toMatch(/^kh_refresh_[A-Za-z0-9_-]{70,}$/);
    const asking = await signIn(world, {}, { scope: "openid profile offline_access" });
    expect(asking.tokens.refresh_token).toMatch(/^kh_refresh_/);
    expect((await signIn(world)).tokens.refresh_token).toBeUndefined();
  });
});

describe("S47 rotation", () => {
  test.each([
    ["a public app", {}],
    ["a confidential app with rotation turned on", { isConfidential: true, isRefreshRotated: true }],
  ])("of %s gives a new refresh token with each use", async (_, settings) => {
    const at = await signIn(world, { ...withRefresh, ...settings });
    const first = await refresh(at, at.tokens.refresh_token);
    expect(first).toMatchObject({ status: 200, body: { token_type: "bearer", expires_in: 28800, scope: "openid profile" } });
    expect(first.body.refresh_token).not.toBe(at.tokens.refresh_token);
    expect(await userinfo(first.body.access_token)).toMatchObject({ sub: at.person.id });
    expect(await refresh(at, first.body.refresh_token)).toMatchObject({ status: 200 });
  });

  test("refuses a replay within ten seconds and keeps the family", async () => {
    const at = await signIn(world, withRefresh);
    const first = await refresh(at, at.tokens.refresh_token);
    await age(at.app.clientId, 8);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });

    expect((await world.userinfo(first.body.access_token)).status).toBe(200);
    expect(await refresh(at, first.body.refresh_token)).toMatchObject({ status: 200 });
    expect(await replaysOf(at.app.clientId)).toEqual([]);
  });

  test("ends the family at a later replay, with one entry in the audit log (S116)", async () => {
    const at = await signIn(world, withRefresh);
    const first = await refresh(at, at.tokens.refresh_token);
    await age(at.app.clientId, 11);
    const replays = await Promise.all(Array.from({ length: 5 }, () => refresh(at, at.tokens.refresh_token)));
    for (const replay of replays) expect(replay).toMatchObject({ status: 400, body: { error: "invalid_grant" } });

    for (const token of [at.tokens.access_token, first.body.access_token]) {
      expect((await world.userinfo(token)).status).toBe(401);
    }
    expect(await refresh(at, first.body.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    const events = await replaysOf(at.app.clientId);
    expect(events).toMatchObject([{ subjectId: at.person.id, data: { kind: "RefreshToken" } }]);
    expect(JSON.stringify(events)).not.toContain(at.tokens.refresh_token);
  });

  test("ends the family at a replay of any older token", async () => {
    const at = await signIn(world, withRefresh);
    const first = await refresh(at, at.tokens.refresh_token);
    await age(at.app.clientId, 3600);
    const second = await refresh(at, first.body.refresh_token);
    await refresh(at, at.tokens.refresh_token);
    expect((await world.userinfo(second.body.access_token)).status).toBe(401);
  });

  test("does not affect another sign-in of the user at the app", async () => {
    const at = await signIn(world, withRefresh);
    const other = await world.signInWith(at.app, at.session, at.browser);
    await refresh(at, at.tokens.refresh_token);
    await age(at.app.clientId, 11);
    await refresh(at, at.tokens.refresh_token);
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
    expect((await world.userinfo(other.tokens.access_token)).status).toBe(200);
  });

  test("lets one of twenty parallel refreshes succeed", async () => {
    const at = await signIn(world, withRefresh);
    const all = await Promise.all(Array.from({ length: 20 }, () => refresh(at, at.tokens.refresh_token)));
    const succeeded = all.filter(({ status }) => status === 200);
    expect(succeeded).toHaveLength(1);
    expect(all.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(19);
    const [{ body } = all[0] as (typeof all)[number]] = succeeded;
    expect((await world.userinfo(body.access_token)).status).toBe(200);
    expect(await refresh(at, body.refresh_token)).toMatchObject({ status: 200 });
  });

  test("ends nothing when another client presents a used token", async () => {
    const [at, stranger] = [await signIn(world, withRefresh), await prepare(world, withRefresh)];
    const { body } = await refresh(at, at.tokens.refresh_token);
    await age(at.app.clientId, 3600);
    const used = await refresh(stranger, at.tokens.refresh_token);
    const unknown = await refresh(stranger, "kh_refresh_unknown");
    expect(used).toEqual(unknown);
    expect(used).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await world.userinfo(body.access_token)).status).toBe(200);
  });
});

describe("RFC 9700 §4.14.2 the refresh token of a confidential app", () => {
  const kept = { ...withRefresh, isConfidential: true };
  const stored = async (clientId: string) => {
    const { rows } = await pool().query(
      `SELECT (a.payload->>'exp')::int AS exp, extract(epoch FROM a.expires_at)::int AS row, extract(epoch FROM g.expires_at)::int AS grant,
         extract(epoch FROM now())::int AS now
       FROM oauth_artifact a JOIN oauth_grant g ON g.id = a.grant_id WHERE a.model = 'RefreshToken' AND a.client_id = $1`,
      [clientId],
    );
    return rows as { exp: number; row: number; grant: number; now: number }[];
  };

  test("can be used again, and each use restarts its idle time (S50)", async () => {
    const at = await signIn(world, kept);
    await pool().query(
      `UPDATE oauth_artifact SET expires_at = now() + interval '1 hour',
         payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch FROM now())::int + 3600)) WHERE model = 'RefreshToken' AND client_id = $1`,
      [at.app.clientId],
    );
    const all = await Promise.all(Array.from({ length: 5 }, () => refresh(at, at.tokens.refresh_token)));
    for (const { status, body } of all) expect([status, body.refresh_token]).toEqual([200, at.tokens.refresh_token]);
    for (const { body } of all) expect((await world.userinfo(body.access_token)).status).toBe(200);
    const rows = await stored(at.app.clientId);
    expect(rows).toHaveLength(1);
    for (const { exp, row, grant, now } of rows) {
      for (const end of [exp, row, grant]) expect(end - now).toBeGreaterThan(REFRESH_TOKEN_IDLE_SECONDS - 60);
    }
  });

  test("lives for at most a year", async () => {
    const at = await signIn(world, kept);
    await pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{iiat}', to_jsonb((payload->>'iiat')::int - $2::int))
        WHERE model = 'RefreshToken' AND client_id = $1`,
      [at.app.clientId, REFRESH_TOKEN_ABSOLUTE_SECONDS - 1000],
    );
    expect((await refresh(at, at.tokens.refresh_token)).status).toBe(200);
    const [row] = await stored(at.app.clientId);
    expect((row?.exp ?? 0) - (row?.now ?? 0)).toBeLessThanOrEqual(1000);
  });

  test("ends all tokens of the sign-in when it is revoked", async () => {
    const at = await signIn(world, kept);
    const { body } = await refresh(at, at.tokens.refresh_token);
    await asApp(world, at.app, "/oauth/revoke", { token: at.tokens.refresh_token });
    expect((await world.userinfo(body.access_token)).status).toBe(401);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("S47 counts as replayed if it was replaced before the app turned rotation off", async () => {
    const at = await signIn(world, { ...kept, isRefreshRotated: true });
    const next = await refresh(at, at.tokens.refresh_token);
    await updateApp(operatorCommand, at.app.id, { isRefreshRotated: false }, noOrigin);
    await expect.poll(async () => (await refresh(at, next.body.refresh_token)).body.refresh_token).toBe(next.body.refresh_token);
    await age(at.app.clientId, 11);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await world.userinfo(next.body.access_token)).status).toBe(401);
    expect(await refresh(at, next.body.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });
});

describe("S48 a refresh", () => {
  const scoped = async () =>
    signIn(world, { ...withRefresh, scopes: ["openid", "profile", "email", "read-repos"] }, { scope: "openid profile email" });

  test("with a scope that was not granted fails with invalid_scope", async () => {
    const at = await scoped();
    for (const scope of ["openid profile email read-repos", "write-repos", "openid unheard-of"]) {
      expect(await refresh(at, at.tokens.refresh_token, { scope })).toMatchObject({
        status: 400,
        body: { error: "invalid_scope" },
      });
    }
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 200, body: { scope: "openid profile email" } });
  });

  test("with a narrower scope narrows only the new access token (RFC 6749 §6)", async () => {
    const at = await scoped();
    const { body } = await refresh(at, at.tokens.refresh_token, { scope: "openid profile" });
    expect(body.scope).toBe("openid profile");
    expect(await userinfo(body.access_token)).not.toHaveProperty("email");
    expect(JSON.parse(Buffer.from(body.id_token.split(".")[1] as string, "base64url").toString())).not.toHaveProperty("email");
    expect(await refresh(at, body.refresh_token)).toMatchObject({ body: { scope: "openid profile email" } });
  });

  test("gets no scopes or organizations of a later consent", async () => {
    const at = await scoped();
    const orgId = await world.organization(`later-${at.person.username}`, { [at.person.id]: "write" });
    const wider = await world.signInWith(
      at.app,
      at.session,
      at.browser,
      { scope: "openid profile email read-repos", orgIds: orgId },
      { scopes: ["read-repos"], orgIds: [orgId] },
    );
    expect(await userinfo(wider.tokens.access_token)).toMatchObject({ orgs: [{ sub: orgId }] });
    const { body } = await refresh(at, at.tokens.refresh_token);
    expect(body.scope).toBe("openid profile email");
    expect(await userinfo(body.access_token)).toMatchObject({ orgs: [], organizations: [] });
  });
});

describe("S49 a refresh fails", () => {
  const expectEnded = async (at: SignIn) => {
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
  };

  test("once the user is disabled", async () => {
    const at = await signIn(world, withRefresh);
    await disableUser(operatorCommand, at.person.id, noOrigin);
    await expectEnded(at);
  });

  test("once the user's row has the time of disabling", async () => {
    const at = await signIn(world, withRefresh);
    await db().user.update({ where: { id: at.person.id }, data: { disabledAt: new Date() } });
    await expectEnded(at);
  });

  test("once the app is deleted", async () => {
    const at = await signIn(world, withRefresh);
    await deleteApp(operatorCommand, at.app.id, noOrigin);
    await expect
      .poll(() => refresh(at, at.tokens.refresh_token))
      .toMatchObject({ status: 401, body: { error: "invalid_client" } });
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
  });

  test("once the app is blocked", async () => {
    const at = await signIn(world, withRefresh);
    await pool().query("UPDATE oauth_app SET blocked_at = now() WHERE id = $1", [at.app.id]);
    await pool().query("SELECT pg_notify('oauth_app', $1)", [at.app.clientId]);
    await expect
      .poll(() => refresh(at, at.tokens.refresh_token))
      .toMatchObject({ status: 401, body: { error: "invalid_client" } });
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
  });

  test("for an organization once the user has left it", async () => {
    const [admin, prepared] = [await world.user(`admin-${Date.now()}`), await prepare(world, withRefresh)];
    const { person } = prepared;
    const members = { [person.id]: "write", [admin.id]: "admin" };
    const [left, kept] = [
      await world.organization(`left-${person.username}`, members),
      await world.organization(`kept-${person.username}`, members),
    ];
    const { tokens } = await world.signInWith(
      prepared.app,
      prepared.session,
      prepared.browser,
      { orgIds: `${left},${kept}` },
      { orgIds: [left, kept] },
    );
    const orgsOf = async (token: string) => (await userinfo(token)).orgs.map(({ sub }: { sub: string }) => sub).sort();
    expect(await orgsOf(tokens.access_token)).toEqual([left, kept].sort());

    await removeMember(operatorCommand, left, person.id, noOrigin);
    expect(await orgsOf(tokens.access_token)).toEqual([kept]);
    const { body, status } = await refresh(prepared, tokens.refresh_token as string);
    expect(status).toBe(200);
    expect(await orgsOf(body.access_token)).toEqual([kept]);
  });
});

describe("S50 a refresh token", () => {
  const payloadsOf = async (clientId: string) =>
    (await db().oAuthArtifact.findMany({ where: { clientId, model: "RefreshToken", consumedAt: null } })).map(
      ({ payload }) => payload as { iat: number; exp: number; iiat: number },
    );

  const signedInAgo = (clientId: string, seconds: number) =>
    pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{iiat}', to_jsonb((payload->>'iiat')::int - $2::int))
        WHERE model = 'RefreshToken' AND client_id = $1`,
      [clientId, seconds],
    );

  test("expires a year after the sign-in, even if it is used", async () => {
    const at = await signIn(world, withRefresh);
    const [first] = await payloadsOf(at.app.clientId);
    expect((first?.exp ?? 0) - (first?.iat ?? 0)).toBe(REFRESH_TOKEN_IDLE_SECONDS);

    const remaining = 100;
    await signedInAgo(at.app.clientId, REFRESH_TOKEN_ABSOLUTE_SECONDS - remaining);
    const { body } = await refresh(at, at.tokens.refresh_token);
    const [next] = await payloadsOf(at.app.clientId);
    expect(next?.exp).toBeLessThanOrEqual((next?.iiat ?? 0) + REFRESH_TOKEN_ABSOLUTE_SECONDS);
    expect((next?.exp ?? 0) - (next?.iat ?? 0)).toBeGreaterThan(remaining - 30);

    await pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{exp}', to_jsonb((payload->>'exp')::int - 200))
        WHERE model = 'RefreshToken' AND client_id = $1`,
      [at.app.clientId],
    );
    expect(await refresh(at, body.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("is bound to its client, even to a public one", async () => {
    const [at, other] = [await signIn(world, withRefresh), await prepare(world, withRefresh)];
    expect(await refresh(other, at.tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 200 });
  });

  test("is not accepted as an access token", async () => {
    const at = await signIn(world, withRefresh);
    expect((await world.userinfo(at.tokens.refresh_token)).status).toBe(401);
    expect(await refresh(at, at.tokens.access_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("of a confidential app needs its secret", async () => {
    const at = await signIn(world, { ...withRefresh, isConfidential: true });
    const form = { grant_type: "refresh_token", refresh_token: at.tokens.refresh_token };
    const response = await asApp(world, { ...at.app, secret: undefined }, "/oauth/token", form);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: "invalid_client" });
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 200 });
  });
});
