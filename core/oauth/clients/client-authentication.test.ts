import { afterAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { listen } from "#core/notifications.ts";
import { addSecret, deleteSecret, rotateSecret } from "../apps/app-secrets.ts";
import { flushUsage } from "../apps/count-usage.ts";
import { asApp, authorize, type Prepared, prepare, redemption, signIn } from "../testing/sign-in.ts";
import { startWorld, type TestApp } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const CLIENT_ENDPOINTS = ["/oauth/token", "/oauth/introspect", "/oauth/revoke"];
const probe = { grant_type: "refresh_token", refresh_token: "kh_refresh_unknown", token: "kh_oauth_unknown" };

const confidential = async () => {
  const at = await prepare(world, { isConfidential: true, isRefreshAllowed: true });
  return { ...at, secret: at.app.secret as string };
};

const rawBasic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

async function outcome(headers: Record<string, string>, form: Record<string, string> = {}) {
  const response = await world.post("/oauth/token", { ...probe, ...form }, headers);
  const body = await response.json();
  return `${response.status} ${body.error}`;
}
const PASSED = "400 invalid_grant";
const REFUSED = "401 invalid_client";

describe("S39 bad client authentication", () => {
  test.each(CLIENT_ENDPOINTS)("at %s fails with 401 invalid_client", async (path) => {
    const { app } = await confidential();
    const basic = await world.post(path, probe, { authorization: world.basic(app.clientId, "wrong") });
    expect(basic.status).toBe(401);
    expect(basic.headers.get("www-authenticate")).toMatch(/^Basic\b/);
    expect(basic.headers.get("cache-control")).toBe("no-store");
    expect(await basic.json()).toMatchObject({ error: "invalid_client" });

    const inBody = await world.post(path, { ...probe, client_id: app.clientId, client_secret: "wrong" });
    expect(inBody.status).toBe(401);
    expect(inBody.headers.get("www-authenticate")).toBeNull();
    expect(await inBody.json()).toMatchObject({ error: "invalid_client" });
  });

  test("fails with 401 invalid_client even if the header is malformed", async () => {
    const { app, secret } = await confidential();
    const good = Buffer.from(`${app.clientId}:${secret}`).toString("base64");
    const headers = [
      "Basic",
      "Basic ",
      "Basic !!!!",
      `Basic ${good} ${good}`,
      `Basic=${good}`,
      `Digest ${good}`,
      `Bearer ${secret}`,
      good,
      rawBasic(app.clientId),
      rawBasic(`:${secret}`),
      rawBasic(`${app.clientId}:%zz`),
      rawBasic(`${app.clientId}:%ff`),
      rawBasic(`${app.clientId}:a\0b`),
      rawBasic(`${app.clientId}:ünicode`),
    ];
    for (const authorization of headers) {
      const response = await world.post("/oauth/token", probe, { authorization });
      expect([authorization, response.status]).toEqual([authorization, 401]);
      expect(response.headers.get("www-authenticate")).toMatch(/^Basic\b/);
    }
  });

  test("of a confidential app without its secret fails", async () => {
    const at = await confidential();
    expect(await outcome({}, { client_id: at.app.clientId })).toBe(REFUSED);
    expect(await outcome({}, { client_id: at.app.clientId, client_secret: "" })).toBe(REFUSED);
    expect(await outcome({ authorization: world.basic(at.app.clientId, "") })).toBe(REFUSED);
    const empty = await world.post("/oauth/token", probe, { authorization: world.basic(at.app.clientId, "") });
    expect(empty.headers.get("www-authenticate")).toMatch(/^Basic\b/);

    const byCode = await world.post("/oauth/token", redemption(await authorize(at)));
    expect(byCode.status).toBe(401);
    expect(await byCode.json()).toMatchObject({ error: "invalid_client" });
  });

  test("of a request without a client fails", async () => {
    expect(await outcome({})).toBe(REFUSED);
    expect(await outcome({}, { client_id: "" })).toBe(REFUSED);
  });
});

describe("S40 two authentication methods at once", () => {
  test("fail with 400 invalid_request, even when both are right", async () => {
    const { app, secret } = await confidential();
    const authorization = world.basic(app.clientId, secret);
    for (const header of [authorization, world.basic(app.clientId, ""), world.basic(app.clientId, "wrong")]) {
      expect(await outcome({ authorization: header }, { client_id: app.clientId, client_secret: secret })).toBe(
        "400 invalid_request",
      );
    }
  });

  test("a client_id in the body beside Basic is accepted if it names the same client", async () => {
    const [{ app, secret }, other] = [await confidential(), await prepare(world)];
    const authorization = world.basic(app.clientId, secret);
    expect(await outcome({ authorization }, { client_id: app.clientId })).toBe(PASSED);
    expect(await outcome({ authorization }, { client_id: other.app.clientId })).toBe("400 invalid_request");
    expect(await outcome({ authorization: world.basic(other.app.clientId, "") }, { client_id: app.clientId })).toBe(
      "400 invalid_request",
    );
  });

  test("a repeated parameter fails with 400 invalid_request (S11)", async () => {
    const { app } = await prepare(world);
    const authorization = world.basic(app.clientId, "");
    for (const headers of [{}, { authorization }] as Record<string, string>[]) {
      const body = `grant_type=refresh_token&refresh_token=x&client_id=${app.clientId}&client_id=${app.clientId}`;
      const response = await world.post("/oauth/token", body, headers);
      expect([response.status, (await response.json()).error]).toEqual([400, "invalid_request"]);
    }
  });
});

describe("S41 an unknown client and a wrong secret", () => {
  const ask = async (clientId: string, path = "/oauth/token") => {
    const startedAt = performance.now();
    const response = await world.post(path, probe, { authorization: world.basic(clientId, "wrong") });
    const body = await response.text();
    const milliseconds = performance.now() - startedAt;
    const headers = Object.fromEntries(response.headers);
    delete headers.date;
    return { answer: { status: response.status, headers, body }, milliseconds };
  };

  test.each(CLIENT_ENDPOINTS)("get the same response at %s", async (path) => {
    const { app } = await confidential();
    expect((await ask(newId(), path)).answer).toEqual((await ask(app.clientId, path)).answer);
  });

  test("get their responses in similar time", async () => {
    const { app } = await confidential();
    await ask(app.clientId);
    const times = async (clientId: string) => {
      const all: number[] = [];
      for (let at = 0; at < 8; at++) all.push((await ask(clientId)).milliseconds);
      return all.sort((a, b) => a - b);
    };
    const [known, unknown] = [await times(app.clientId), await times(newId())];
    expect(known[0]).toBeGreaterThanOrEqual(24);
    expect(unknown[0]).toBeGreaterThanOrEqual(24);
    expect(Math.abs((known[0] as number) - (unknown[0] as number))).toBeLessThan(25);
  });

  test("a secret is stored only as a hash", async () => {
    const { app, secret } = await confidential();
    const rows = JSON.stringify(await db().oAuthAppSecret.findMany({ where: { appId: app.id } }));
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain(secret.slice(-16));
  });
});

describe("credentials as real clients send them", () => {
  test("a confidential app may authenticate by Basic or in the body", async () => {
    const { app, secret } = await confidential();
    for (const scheme of ["Basic", "basic", "BASIC"]) {
      const authorization = world.basic(app.clientId, secret).replace("Basic", scheme);
      expect(await outcome({ authorization })).toBe(PASSED);
    }
    expect(await outcome({}, { client_id: app.clientId, client_secret: secret })).toBe(PASSED);
  });

  test("both parts of Basic are form-urlencoded", async () => {
    const { app, secret } = await confidential();
    const encodeAll = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join("");
    expect(await outcome({ authorization: rawBasic(`${encodeAll(app.clientId)}:${encodeAll(secret)}`) })).toBe(PASSED);
    expect(await outcome({ authorization: rawBasic(`${encodeAll(app.clientId)}:${encodeAll("wrong")}`) })).toBe(REFUSED);
  });

  test("a public client may send Basic with an empty secret", async () => {
    const at = await prepare(world);
    for (const extra of [{}, { client_id: at.app.clientId }] as Record<string, string>[]) {
      const response = await world.post("/oauth/token", redemption(await authorize(at), extra), {
        authorization: world.basic(at.app.clientId, ""),
      });
      expect(response.status).toBe(200);
    }
  });

  test("a public client may omit its ID when it redeems a code with PKCE", async () => {
    const at = await prepare(world);
    const code = await authorize(at);
    const wrong = await world.post("/oauth/token", redemption({ ...code, verifier: "w".repeat(43) }));
    expect([wrong.status, (await wrong.json()).error]).toEqual([400, "invalid_grant"]);
    const right = await world.post("/oauth/token", redemption(code));
    expect(right.status).toBe(200);
    const unknown = await world.post("/oauth/token", redemption({ ...code, code: "unknown" }));
    expect(unknown.status).toBe(401);
  });

  test("a code identifies its client only when it is redeemed", async () => {
    const at = await prepare(world);
    expect(await outcome({}, { code: (await authorize(at)).code })).toBe(REFUSED);
  });

  test("a public client that sends a secret is refused", async () => {
    const { app } = await prepare(world);
    expect(await outcome({ authorization: world.basic(app.clientId, "made-up") })).toBe(REFUSED);
    expect(await outcome({}, { client_id: app.clientId, client_secret: "made-up" })).toBe(REFUSED);
  });
});

async function notified(): Promise<void> {
  const channel = `test_${newId()}`;
  let heard = 0;
  await listen(channel, () => {
    heard += 1;
  });
  await pool().query("SELECT pg_notify($1, 'now')", [channel]);
  await expect.poll(() => heard).toBeGreaterThan(0);
}

const WAITING_READERS = `SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
  WHERE d.datname = current_database() AND NOT l.granted AND l.mode = 'AccessShareLock'`;

describe("S52 a secret", () => {
  const soon = { interval: 10 };
  const withSecret = (app: TestApp, secret: string) => outcome({ authorization: world.basic(app.clientId, secret) });
  const signsIn = async (at: Prepared) =>
    (await asApp(world, { ...at.app, secret: undefined }, "/oauth/token", redemption(await authorize(at)))).status;

  test("is refused after its deletion, while client_id alone is accepted with PKCE", async () => {
    const at = await confidential();
    expect(await withSecret(at.app, at.secret)).toBe(PASSED);
    await deleteSecret(operatorCommand, at.app.id, noOrigin);
    await expect.poll(() => withSecret(at.app, at.secret), soon).toBe(REFUSED);
    expect(await signsIn(at)).toBe(200);

    const { code } = await authorize(at);
    const form = { ...redemption({ code, verifier: "" }), code_verifier: undefined };
    const response = await asApp(world, { ...at.app, secret: undefined }, "/oauth/token", form);
    expect(await response.json()).toMatchObject({ error: "invalid_grant" });
  });

  test("makes PKCE required when it is deleted", async () => {
    const at = await prepare(world, { isConfidential: true, isPkceRequired: false });
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    await authorize(at, without);
    await deleteSecret(operatorCommand, at.app.id, noOrigin);
    await expect.poll(() => authorize(at, without).catch((error: Error) => error.message), soon).toMatch(/invalid_request/);
  });

  test("must be sent once it was added", async () => {
    const at = await prepare(world);
    expect(await signsIn(at)).toBe(200);
    const { secret } = await addSecret(operatorCommand, at.app.id, noOrigin);
    await expect.poll(() => outcome({}, { client_id: at.app.clientId }), soon).toBe(REFUSED);
    expect(await withSecret(at.app, secret)).toBe(PASSED);
  });

  test("is refused after a rotation without an overlap", async () => {
    const at = await confidential();
    expect(await withSecret(at.app, at.secret)).toBe(PASSED);
    const { secret } = await rotateSecret(operatorCommand, at.app.id, {}, noOrigin);
    await expect.poll(() => withSecret(at.app, secret), soon).toBe(PASSED);
    expect(await withSecret(at.app, at.secret)).toBe(REFUSED);
  });

  test("is refused when the overlap of a rotation ends, although nothing notifies the processes of the end", async () => {
    const at = await confidential();
    const { secret } = await rotateSecret(operatorCommand, at.app.id, { overlapSeconds: 3600 }, noOrigin);
    await expect.poll(() => withSecret(at.app, secret), soon).toBe(PASSED);
    expect(await withSecret(at.app, at.secret)).toBe(PASSED);

    await pool().query(
      "UPDATE oauth_app_secret SET expires_at = now() + interval '400 ms' WHERE app_id = $1 AND expires_at > now()",
      [at.app.id],
    );
    await pool().query("SELECT pg_notify('oauth_app', $1)", [at.app.clientId]);
    await expect.poll(() => withSecret(at.app, at.secret), soon).toBe(REFUSED);
    expect(await withSecret(at.app, secret)).toBe(PASSED);
  });

  test("is refused if its app was blocked while the client was being read", async () => {
    const at = await confidential();
    const reader = await pool().connect();
    try {
      await reader.query("BEGIN; LOCK TABLE oauth_app_secret IN ACCESS EXCLUSIVE MODE");
      const slow = withSecret(at.app, at.secret);
      await expect.poll(async () => (await pool().query(WAITING_READERS)).rowCount).toBe(1);
      await pool().query("UPDATE oauth_app SET blocked_at = now() WHERE id = $1", [at.app.id]);
      await pool().query("SELECT pg_notify('oauth_app', $1)", [at.app.clientId]);
      // Notifications arrive in order, so the earlier one has arrived.
      await notified();
      await reader.query("ROLLBACK");
      await slow;
    } finally {
      reader.release();
    }
    expect(await withSecret(at.app, at.secret)).toBe(REFUSED);
  });

  test("has the time of its last use, without a write for each request", async () => {
    const at = await confidential();
    const lastUses = async () =>
      (await db().oAuthAppSecret.findMany({ where: { appId: at.app.id } })).map(({ lastUsedAt }) => lastUsedAt);
    await withSecret(at.app, "wrong");
    await flushUsage();
    expect(await lastUses()).toEqual([null]);
    await Promise.all([withSecret(at.app, at.secret), withSecret(at.app, at.secret)]);
    expect(await lastUses()).toEqual([null]);
    await flushUsage();
    expect(await lastUses()).toEqual([expect.any(Date)]);
  });
});

test("a public client can revoke its tokens with only its client ID", async () => {
  const at = await signIn(world);
  const response = await asApp(world, at.app, "/oauth/revoke", { token: at.tokens.access_token });
  expect(response.status).toBe(200);
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
});
