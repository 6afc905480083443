import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { asApp, authorize, redemption, refresh, signIn } from "#core/oauth/testing/sign-in.ts";
import { worldAt } from "#core/oauth/testing/world.ts";
import { type ServiceProcess, startProcess } from "./testing/start-process.ts";

/** S55: issued secrets exist only with their holders. */
let service: ServiceProcess;
const issued: Record<string, string> = {};

beforeAll(async () => {
  service = await startProcess();
  const world = worldAt(service.origin);
  const at = await signIn(world, { isConfidential: true, isRefreshAllowed: true }, { scope: "openid profile email" });
  Object.assign(issued, {
    "redeemed code": at.code,
    "its verifier": at.verifier,
    "access token": at.tokens.access_token,
    "refresh token": at.tokens.refresh_token,
    "ID token": at.tokens.id_token,
    "client secret": at.app.secret,
  });
  for (const pair of [...at.browser.cookieHeader("/").split("; "), ...at.browser.cookieHeader("/oauth/authorize").split("; ")]) {
    const cut = pair.indexOf("=");
    const name = pair.slice(0, cut);
    if (!name.endsWith(".sig")) issued[`cookie ${name}`] = pair.slice(cut + 1);
  }
  issued["live code"] = (await authorize(at)).code;
  const refreshed = await refresh(at, at.tokens.refresh_token);
  Object.assign(issued, {
    "second access token": refreshed.body.access_token,
    "second refresh token": refreshed.body.refresh_token,
    "personal access token": (
      await createPersonalAccessToken(
        operatorCommand,
        at.person.id,
        { name: "laptop", scopes: ["read-repos"], expiresInDays: 1 },
        noOrigin,
      )
    ).token,
    "guessed secret": "a-wrong-secret-that-somebody-typed-into-their-settings",
    "mistyped token": "kh_oauth_somebody-pasted-this-with-a-typo-in-it",
  });
  await useEverywhere(world, at);
});
afterAll(() => service.stop());

async function useEverywhere(world: ReturnType<typeof worldAt>, at: Awaited<ReturnType<typeof signIn>>) {
  await at.redeem();
  const values = Object.values(issued);
  for (const value of values) {
    const token = encodeURIComponent(value);
    await Promise.all([
      world.userinfo(value),
      world.post("/oauth/userinfo", { access_token: value }),
      fetch(`${world.origin}/oauth/userinfo?access_token=${token}`),
      fetch(`${world.origin}/api/whoami-v2?token=${token}`, { headers: { authorization: `Bearer ${value}` } }),
      asApp(world, at.app, "/oauth/introspect", { token: value }),
      asApp(world, at.app, "/oauth/token", { grant_type: "refresh_token", refresh_token: value }),
      asApp(world, at.app, "/oauth/token", redemption({ code: value, verifier: value })),
      world.post("/oauth/token", { client_id: value, client_secret: value, password: value, grant_type: value }),
      world.post("/oauth/token", { token: value }, { authorization: world.basic(at.app.clientId, value) }),
      world.post("/oauth/token", `{"client_secret":"${value}"`, { "content-type": "application/json" }),
      fetch(`${world.origin}/oauth/logout?id_token_hint=${token}`),
      fetch(`${world.origin}/oauth/authorize?client_id=${token}&state=x`, { redirect: "manual" }),
      fetch(`${world.origin}/oauth/authorize/${token.slice(0, 90)}`, { headers: { cookie: `interaction=${token}` } }),
      ...(value.length >= 43 ? [fetch(`${world.origin}/reset-password/${token}`)] : []),
    ]);
  }
}

async function dumpDatabase(): Promise<string> {
  const { rows: tables } = await pool().query<{ name: string }>(
    "SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const dumps = await Promise.all(
    tables.map(({ name }) => pool().query<{ row: string }>(`SELECT row_to_json(t)::text AS row FROM ${name} t`)),
  );
  const text = dumps.flatMap(({ rows }) => rows.map(({ row }) => row)).join("\n");
  const binary = [...text.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex]) => Buffer.from(hex as string, "hex").toString("latin1"));
  return `${text}\n${binary.join("\n")}`;
}

/** Parts from which the rest could be guessed must not be found either. */
const tracesOf = (value: string) => [value, encodeURIComponent(value), value.slice(0, -4), value.slice(-24)];

describe("S55 what was issued", () => {
  test("has at least 128 bits and, if clients store it, a prefix that identifies it", () => {
    for (const name of ["access token", "second access token"]) expect(issued[name]).toMatch(/^kh_oauth_[\w-]{43}$/);
    for (const name of ["refresh token", "second refresh token"]) expect(issued[name]).toMatch(/^kh_refresh_[\w-]{70,}$/);
    expect(issued["client secret"]).toMatch(/^kh_secret_[\w-]{43}$/);
    expect(issued["personal access token"]).toMatch(/^kh_[\w-]{43}$/);
    // An app that authenticates keeps its refresh token (RFC 9700 §4.14.2).
    const { "second refresh token": kept, ...others } = issued;
    expect(kept).toBe(others["refresh token"]);
    expect(new Set(Object.values(others)).size).toBe(Object.keys(others).length);
  });

  test("appears nowhere in the whole database", async () => {
    const dump = await dumpDatabase();
    for (const name of ["access token", "refresh token", "live code", "client secret", "personal access token"]) {
      expect(dump, `the hash of the ${name}`).toContain(hashToken(issued[name] as string));
    }
    for (const [name, value] of Object.entries(issued)) {
      for (const trace of tracesOf(value)) expect(dump.includes(trace), name).toBe(false);
    }
  });

  test("is nowhere in the most verbose logs", async () => {
    const logs = service.output();
    expect(logs).toContain('"path":"/oauth/token"');
    expect(logs).toContain('"path":"/api/whoami-v2"');
    for (const [name, value] of Object.entries(issued)) {
      for (const trace of tracesOf(value)) expect(logs.includes(trace), name).toBe(false);
    }
  });

  test("never appears as a query parameter in the logs", async () => {
    const { output } = service;
    expect(output()).not.toMatch(/[?&](access_token|refresh_token|id_token|client_secret|code)=/);
  });
});
