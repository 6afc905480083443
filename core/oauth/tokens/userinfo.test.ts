import { afterAll, describe, expect, test } from "vitest";
import { db, pool } from "#core/db.ts";
import { prepare, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const USERINFO = "/oauth/userinfo";
const ask = (headers: Record<string, string> = {}, path = USERINFO) => fetch(world.origin + path, { headers });
const challengeOf = (response: Response) => response.headers.get("www-authenticate");

describe("S102 userinfo", () => {
  test("accepts GET and POST, with the token in the header or in the form", async () => {
    const { tokens, person } = await signIn(world);
    const token = tokens.access_token;
    const answers = await Promise.all([
      ask({ authorization: `Bearer ${token}` }),
      ask({ authorization: `bearer ${token}` }),
      ask({ authorization: `BEARER ${token}` }),
      fetch(world.origin + USERINFO, { method: "POST", headers: { authorization: `Bearer ${token}` } }),
      world.post(USERINFO, { access_token: token }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(await answer.json()).toMatchObject({ sub: person.id });
    }
  });

  test("without a token returns 401 with a challenge that names no error (RFC 6750 §3.1)", async () => {
    for (const answer of [await ask(), await world.post(USERINFO, {}), await ask({ authorization: "" })]) {
      expect(answer.status).toBe(401);
      expect(challengeOf(answer)).toMatch(/^Bearer\b/);
      expect(challengeOf(answer)).not.toContain("error");
    }
  });

  test("with an unknown, expired or revoked token returns the same 401 invalid_token", async () => {
    const [expired, revoked] = [await signIn(world), await signIn(world)];
    await pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{exp}', to_jsonb((payload->>'exp')::int - 30000))
        WHERE model = 'AccessToken' AND client_id = $1`,
      [expired.app.clientId],
    );
    await db().oAuthConsent.updateMany({ where: { clientId: revoked.app.clientId }, data: { revokedAt: new Date() } });
    const bodies = new Set<string>();
    for (const token of ["kh_oauth_unknown", "x", expired.tokens.access_token, revoked.tokens.access_token]) {
      const answer = await ask({ authorization: `Bearer ${token}` });
      expect(answer.status).toBe(401);
      expect(challengeOf(answer)).toMatch(/^Bearer .*error="invalid_token"/);
      bodies.add(await answer.text());
    }
    expect([...bodies].map((body) => JSON.parse(body))).toMatchObject([{ error: "invalid_token" }]);
  });

  test("with a token without openid returns 403 insufficient_scope", async () => {
    const { tokens } = await signIn(world, { scopes: ["profile", "email"] }, { scope: "profile" });
    expect(tokens.scope).toBe("profile");
    const answer = await ask({ authorization: `Bearer ${tokens.access_token}` });
    expect(answer.status).toBe(403);
    expect(challengeOf(answer)).toMatch(/^Bearer .*error="insufficient_scope".*scope="openid"/);
    expect(await answer.json()).toMatchObject({ error: "insufficient_scope", scope: "openid" });
  });

  test("refuses a token in the query string (S55, RFC 9700 §4.3.2)", async () => {
    const { tokens } = await signIn(world);
    const query = `${USERINFO}?access_token=${tokens.access_token}`;
    for (const answer of [
      await ask({}, query),
      await ask({ authorization: `Bearer ${tokens.access_token}` }, query),
      await world.post(query, { access_token: tokens.access_token }),
    ]) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: "invalid_request" });
    }
  });

  test("refuses a token that is sent in two ways (RFC 6750 §2)", async () => {
    const { tokens } = await signIn(world);
    const answer = await world.post(
      USERINFO,
      { access_token: tokens.access_token },
      { authorization: `Bearer ${tokens.access_token}` },
    );
    expect(answer.status).toBe(400);
  });
});

describe("S103 claims follow scopes", () => {
  const all = ["openid", "profile", "email", "read-billing", "read-repos"] as const;
  const claimsOf = async (scope: string) => {
    const { tokens } = await signIn(world, { scopes: [...all] }, { scope }, { scopes: scope.split(" ") });
    return Object.keys(await (await world.userinfo(tokens.access_token)).json()).sort();
  };
  const identity = ["isPro", "organizations", "orgs", "sub"];
  const profile = ["name", "picture", "preferred_username", "profile"];

  test.each([
    ["openid", [...identity]],
    ["openid profile", [...identity, ...profile]],
    ["openid email", [...identity, "email", "email_verified"]],
    ["openid profile email read-billing", [...identity, ...profile, "email", "email_verified", "canPay", "billingMode"]],
    ["openid read-repos", [...identity]],
  ])("%s", async (scope, expected) => {
    expect(await claimsOf(scope)).toEqual([...expected].sort());
  });

  test("only granted organizations appear, under both names with the same content", async () => {
    const at = await prepare(world);
    const { id, username } = at.person;
    const [granted, other] = [
      await world.organization(`granted-${username}`, { [id]: "contributor" }),
      await world.organization(`other-${username}`, { [id]: "admin" }),
    ];
    const claimsWith = async (answer: { orgIds?: string[]; isAllOrgs?: boolean }) => {
      const { tokens } = await world.signInWith(at.app, at.session, at.browser, { orgIds: granted, prompt: "consent" }, answer);
      return (await world.userinfo(tokens.access_token)).json();
    };
    const one = await claimsWith({ orgIds: [granted] });
    expect(one.orgs).toMatchObject([
      { sub: granted, name: `granted-${username}`, preferred_username: `granted-${username}`, roleInOrg: "contributor" },
    ]);
    expect(one.organizations).toEqual(one.orgs);
    expect((await claimsWith({ orgIds: [], isAllOrgs: false })).orgs).toEqual([]);

    const all = await claimsWith({ isAllOrgs: true });
    expect(all.orgs.map(({ sub }: { sub: string }) => sub).sort()).toEqual([granted, other].sort());
  });

  test("the ID token contains name, picture and email address, but no organizations", async () => {
    const at = await signIn(world, {}, { scope: "openid profile email", nonce: "once" });
    const claims = JSON.parse(Buffer.from(at.tokens.id_token.split(".")[1] as string, "base64url").toString());
    expect(claims).toMatchObject({
      iss: world.origin,
      aud: at.app.clientId,
      sub: at.person.id,
      nonce: "once",
      preferred_username: at.person.username,
      email: at.person.email,
      email_verified: true,
    });
    expect(claims).not.toHaveProperty("orgs");
  });

  test("a changed profile appears at once", async () => {
    const { tokens, person } = await signIn(world);
    await db().user.update({ where: { id: person.id }, data: { fullName: "Another Name" } });
    expect(await (await world.userinfo(tokens.access_token)).json()).toMatchObject({ name: "Another Name" });
  });
});
