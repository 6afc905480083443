import { createPublicKey, verify } from "node:crypto";
import * as oauth from "oauth4webapi";
import { afterAll, describe, expect, test } from "vitest";
import { db, pool } from "#core/db.ts";
import { loadSigningKeys, PUBLISH_AHEAD_SECONDS, rotateSigningKeys } from "./signing-keys.ts";
import { type Prepared, prepare, signIn } from "./testing/sign-in.ts";
import { startWorld } from "./testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

type PublicKey = JsonWebKey & { kid: string };
const readKeys = async (): Promise<PublicKey[]> => (await (await fetch(`${world.origin}/oauth/jwks`)).json()).keys;
const kidsOf = (keys: { kid?: string }[]) => keys.map(({ kid }) => kid);

const header = (jwt: string) => JSON.parse(Buffer.from(jwt.split(".")[0] as string, "base64url").toString());

function isSignedBy(keys: PublicKey[], jwt: string): boolean {
  const { kid, alg } = header(jwt);
  const jwk = keys.find((key) => key.kid === kid);
  if (!jwk) return false;
  const [head, body, signature = ""] = jwt.split(".");
  const key = createPublicKey({ key: jwk as never, format: "jwk" });
  const options = alg === "ES256" ? { key, dsaEncoding: "ieee-p1363" as const } : key;
  return verify("sha256", Buffer.from(`${head}.${body}`), options, Buffer.from(signature, "base64url"));
}

const idToken = async ({ app, session, browser }: Prepared): Promise<string> =>
  (await world.signInWith(app, session, browser)).tokens.id_token as string;

async function letPass(seconds: number) {
  await pool().query(
    `UPDATE signing_key SET active_at = active_at - make_interval(secs => $1), retired_at = retired_at - make_interval(secs => $1)`,
    [seconds],
  );
  await pool().query("NOTIFY signing_key");
}

const soon = { interval: 20 };

describe("S107 the published keys", () => {
  test("contain no private parts, and have one key for each algorithm", async () => {
    const response = await fetch(`${world.origin}/oauth/jwks`);
    expect(response.headers.get("content-type")).toMatch(/^application\/jwk-set\+json\b/);
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    const keys = await readKeys();
    expect(keys.map(({ alg }) => alg).sort()).toEqual(["ES256", "RS256"]);
    expect(new Set(kidsOf(keys)).size).toBe(keys.length);
    for (const key of keys) {
      const names = key.kty === "RSA" ? ["alg", "e", "kid", "kty", "n", "use"] : ["alg", "crv", "kid", "kty", "use", "x", "y"];
      expect(Object.keys(key).sort()).toEqual(names);
      expect(key.use).toBe("sig");
    }
  });

  test("have private parts that are stored encrypted", async () => {
    const secrets = (await loadSigningKeys()).map(({ d }) => String(d));
    const { rows } = await pool().query<{ text: string; bytes: Buffer }>(
      "SELECT row_to_json(k)::text AS text, private_jwk AS bytes FROM signing_key k",
    );
    expect(rows.length).toBeGreaterThanOrEqual(2);
    for (const { text, bytes } of rows) {
      for (const secret of secrets) {
        expect(text).not.toContain(secret);
        expect(bytes.toString("latin1")).not.toContain(secret);
      }
      expect(bytes.toString("latin1")).not.toContain('"d"');
    }
  });

  test("are created by one of three processes that start together", async () => {
    await pool().query("DELETE FROM signing_key");
    const loaded = await Promise.all([loadSigningKeys(), loadSigningKeys(), loadSigningKeys()]);
    expect(await db().signingKey.count()).toBe(2);
    expect(new Set(loaded.map((keys) => JSON.stringify(kidsOf(keys)))).size).toBe(1);
    await pool().query("NOTIFY signing_key");
    await expect.poll(async () => kidsOf(await readKeys()).sort(), soon).toEqual(kidsOf(loaded[0] ?? []).sort());
  });
});

describe("ID tokens", () => {
  test("are signed with RS256, or with ES256 if the app requests this", async () => {
    const [rs, es] = [await prepare(world), await prepare(world)];
    await db().oAuthApp.update({ where: { id: es.app.id }, data: { idTokenAlg: "ES256" } });
    await pool().query("SELECT pg_notify('oauth_app', $1)", [es.app.clientId]);
    for (const [at, alg] of [
      [rs, "RS256"],
      [es, "ES256"],
    ] as const) {
      const as = await world.discover();
      const client = { client_id: at.app.clientId, id_token_signed_response_alg: alg };
      const token = await idToken(at);
      expect(header(token)).toMatchObject({ alg });
      expect(isSignedBy(await readKeys(), token)).toBe(true);
      const answer = Response.json({ access_token: "x", token_type: "bearer", id_token: token });
      await oauth.processAuthorizationCodeResponse(as, client, answer);
      await expect(oauth.validateApplicationLevelSignature(as, answer, world.insecure)).resolves.toBeUndefined();
    }
  });
});

describe("S107 a rotation without a restart", () => {
  test("publishes new keys first, signs with them, and then withdraws the old ones", async () => {
    const at = await prepare(world);
    const before = await readKeys();
    const oldToken = await idToken(at);

    const { kids, activeAt } = await rotateSigningKeys();
    expect(activeAt.getTime() - Date.now()).toBeGreaterThan((PUBLISH_AHEAD_SECONDS - 10) * 1000);
    await expect.poll(async () => kidsOf(await readKeys()), soon).toEqual(expect.arrayContaining([...kidsOf(before), ...kids]));
    const during = await readKeys();
    expect(during).toHaveLength(4);
    expect(new Set(kidsOf(during)).size).toBe(4);
    const waiting = await idToken(at);
    expect(kidsOf(before)).toContain(header(waiting).kid);
    for (const token of [oldToken, waiting]) expect(isSignedBy(during, token)).toBe(true);

    await letPass(PUBLISH_AHEAD_SECONDS + 1);
    await expect.poll(async () => kids.includes(header(await idToken(at)).kid), soon).toBe(true);
    const newToken = await idToken(at);
    const after = await readKeys();
    for (const token of [oldToken, waiting, newToken]) expect(isSignedBy(after, token)).toBe(true);

    await letPass(3600);
    await pool().query("NOTIFY signing_key");
    expect(isSignedBy(await readKeys(), oldToken)).toBe(true);
    await letPass(3600);
    await expect.poll(async () => kidsOf(await readKeys()).sort(), soon).toEqual([...kids].sort());
    expect(isSignedBy(await readKeys(), newToken)).toBe(true);
  });

  test("takes effect at its time without another notification", async () => {
    const at = await prepare(world);
    const { kids } = await rotateSigningKeys();
    await expect.poll(async () => kidsOf(await readKeys()), soon).toEqual(expect.arrayContaining(kids));
    expect(kids).not.toContain(header(await idToken(at)).kid);
    await pool().query("UPDATE signing_key SET active_at = now() + interval '1 second' WHERE active_at > now()");
    await pool().query("NOTIFY signing_key");
    await expect.poll(async () => kids.includes(header(await idToken(at)).kid), { interval: 100 }).toBe(true);
  });

  test("after a leak withdraws the old keys at once", async () => {
    const at = await prepare(world);
    const leaked = await idToken(at);
    await rotateSigningKeys();
    const { kids } = await rotateSigningKeys({ isImmediate: true });
    await expect.poll(async () => kidsOf(await readKeys()).sort(), soon).toEqual([...kids].sort());
    expect(kids).toContain(header(await idToken(at)).kid);
    expect(isSignedBy(await readKeys(), leaked)).toBe(false);
  });

  test("interrupts no sign-in", async () => {
    const at = await signIn(world);
    const signIns = Array.from({ length: 12 }, async (_, index) => {
      if (index === 4) await rotateSigningKeys({ isImmediate: true });
      const browser = world.browser();
      const session = await world.signIn(browser, at.person);
      return world.signInWith(at.app, session, browser);
    });
    for (const { tokens } of await Promise.all(signIns)) expect((await world.userinfo(tokens.access_token)).status).toBe(200);
  });

  test("S116 writes an entry with the IDs of the new keys", async () => {
    const { kids } = await rotateSigningKeys();
    const [event] = await db().auditEvent.findMany({
      where: { type: "signing_key.rotate" },
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      take: 1,
    });
    expect(event?.data).toMatchObject({ kids, isImmediate: false });
  });
});
