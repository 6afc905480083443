import * as jose from "jose";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { afterAll, describe, expect, test, vi } from "vitest";
import { ENTRIES_IN_ALL, ENTRIES_OF_SOURCE, throttleKey } from "#core/accounts/throttle.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { countStatements } from "#core/testing/count-statements.ts";
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import { proofKey } from "../testing/dpop.ts";
import { auditOfOrganization, exchange, exchangeForm, outcomeOf, prepareExchange, USER_EMAIL } from "../testing/exchange.ts";
import { startWorld } from "../testing/world.ts";
import { FIND_EXCHANGE, REFUSALS_OF_CLIENT } from "./exchange-store.ts";

const world = await startWorld();
const at = await prepareExchange(world);
afterAll(() => world.stop());

// Refusals count by address (S56), and these tests cause many.
let addresses = 0;
const fromElsewhere = () => world.sendFrom(`192.0.2.${(addresses++ % 250) + 1}`);

const introspect = async (token: string, { app } = at) => {
  const authorization = world.basic(app.clientId, app.secret ?? "");
  return (await world.post("/oauth/introspect", { token }, { authorization })).json();
};

describe("independent clients", () => {
  test("oauth4webapi exchanges and verifies the ID token", async () => {
    const as = await world.discover();
    expect(as.grant_types_supported).toContain(TOKEN_EXCHANGE_GRANT);
    const client = { client_id: at.app.clientId };
    const { grant_type: _, ...parameters } = exchangeForm(at.writer.email);
    const response = await oauth.genericTokenEndpointRequest(
      as,
      client,
      oauth.ClientSecretBasic(at.app.secret ?? ""),
      TOKEN_EXCHANGE_GRANT,
      parameters,
      world.insecure,
    );
    const tokens = await oauth.processGenericTokenEndpointResponse(as, client, response);
    expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({
      sub: at.writer.id,
      aud: at.app.clientId,
      email: at.writer.email,
      email_verified: true,
    });
    expect(tokens.refresh_token).toBeUndefined();
    const claims = await oauth.processUserInfoResponse(
      as,
      client,
      at.writer.id,
      await oauth.userInfoRequest(as, client, tokens.access_token, world.insecure),
    );
    expect(claims.organizations).toMatchObject([{ sub: at.orgId, roleInOrg: "write" }]);
  });

  test("openid-client exchanges, even with DPoP", async () => {
    const config = await openid.discovery(
      new URL(world.origin),
      at.app.clientId,
      undefined,
      openid.ClientSecretBasic(at.app.secret ?? ""),
      { execute: [openid.allowInsecureRequests] },
    );
    const parameters = { subject_token: at.reader.email, subject_token_type: USER_EMAIL, scope: "read-repos" };
    const plain = await openid.genericGrantRequest(config, TOKEN_EXCHANGE_GRANT, parameters);
    expect(plain).toMatchObject({ token_type: "bearer", scope: "read-repos", expires_in: 28_800 });
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair("ES256"));
    const bound = await openid.genericGrantRequest(config, TOKEN_EXCHANGE_GRANT, parameters, { DPoP });
    expect(bound.token_type).toBe("dpop");
    expect(await introspect(bound.access_token)).toMatchObject({ active: true, cnf: { jkt: expect.any(String) } });
  });
});

describe("S89 the client authenticates by HTTP Basic", () => {
  const refusedWith = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    fromElsewhere();
    const response = await world.post("/oauth/token", { ...exchangeForm(at.writer.email), ...form }, headers);
    return { status: response.status, challenge: response.headers.get("www-authenticate"), body: await response.json() };
  };

  test("credentials in the body are refused", async () => {
    for (const client_secret of [at.app.secret ?? "", "wrong"]) {
      const { status, body } = await refusedWith({ client_id: at.app.clientId, client_secret });
      expect([status, body.error]).toEqual([401, "invalid_client"]);
      expect(body.error_description).toContain("HTTP Basic only");
    }
    expect((await auditOfOrganization(at.orgId)).at(-1)?.data).toMatchObject({ reason: "not_authenticated_by_basic" });
  });

  test("a wrong secret, no secret, no client and an unknown client get the same response", async () => {
    const attempts = [
      await refusedWith({}, { authorization: world.basic(at.app.clientId, "wrong") }),
      await refusedWith({}, { authorization: world.basic(newId(), "wrong") }),
      await refusedWith({ client_id: at.app.clientId }),
      await refusedWith({}),
    ];
    for (const { status, body } of attempts) expect([status, body]).toEqual([401, attempts[0]?.body]);
    expect(attempts[0]?.challenge).toMatch(/^Basic\b/);
  });

  test("a public app is refused", async () => {
    const app = await world.app(at.admin, { owner: { orgId: at.orgId }, isBound: true });
    await db().oAuthApp.update({ where: { id: app.id }, data: { privileges: ["token-exchange"] } });
    expect(await refusedWith({ client_id: app.clientId })).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    expect(await refusedWith({}, { authorization: world.basic(app.clientId, "") })).toMatchObject({ status: 401 });
  });
});

test("S90 an app without binding, privilege or plan gets 401 invalid_client with the reason", async () => {
  const other = await prepareExchange(world);
  const set = async (data: object) => db().oAuthApp.update({ where: { id: other.app.id }, data });
  const refusal = async () => {
    fromElsewhere();
    const { status, body, headers } = await exchange(other, other.writer.email);
    return [status, body.error, headers.get("www-authenticate"), body.error_description];
  };
  const challenge = 'Basic realm="OAuth"';
  await set({ privileges: [] });
  expect(await refusal()).toEqual([401, "invalid_client", challenge, expect.stringContaining("token-exchange privilege")]);
  await set({ privileges: ["token-exchange"] });
  await db().organization.update({ where: { id: other.orgId }, data: { plan: "team" } });
  expect(await refusal()).toEqual([401, "invalid_client", challenge, expect.stringContaining("Enterprise or Plus plan")]);
  await db().organization.update({ where: { id: other.orgId }, data: { plan: "enterprise" } });
  const decision = { orgId: other.orgId, clientId: other.app.clientId, decision: "blocked" };
  await db().organizationApp.create({ data: decision });
  expect(await refusal()).toEqual([401, "invalid_client", challenge, expect.stringContaining("has blocked")]);
  await db().organizationApp.deleteMany({ where: { orgId: other.orgId } });
  expect((await exchange(other, other.writer.email)).status).toBe(200);
  const reasons = (await auditOfOrganization(other.orgId)).map(({ data }) => (data as { reason?: string }).reason);
  expect(reasons).toEqual(["no_privilege", "no_plan", "blocked_by_organization", undefined]);

  const unbound = await world.app(at.admin, { isConfidential: true });
  fromElsewhere();
  const never = await exchange({ world, app: unbound }, at.writer.email);
  expect([never.status, never.body.error, never.body.error_description]).toEqual([
    401,
    "invalid_client",
    expect.stringContaining("not bound to an organization"),
  ]);
});

describe("S91 the subject is a member by their verified e-mail address", () => {
  test("in any case, with spaces around it, and with the domain in Unicode", async () => {
    for (const email of [at.writer.email.toUpperCase(), `  ${at.writer.email}\t`]) {
      expect((await exchange(at, email)).status).toBe(200);
    }
    const email = `zoe+ci@xn--bcher-kva.example`;
    await db().user.update({ where: { id: at.reader.id }, data: { email, emailCanonical: email } });
    expect((await exchange(at, "Zoe+CI@Bücher.example")).status).toBe(200);
    await db().user.update({ where: { id: at.reader.id }, data: { email: at.reader.email, emailCanonical: at.reader.email } });
  });

  test("unknown users, non-members and restricted members get the same response, and only the entries differ", async () => {
    const other = await prepareExchange(world, { name: "Other" });
    const { admin, writer, reader, stranger } = other;
    await db().user.update({ where: { id: writer.id }, data: { emailVerifiedAt: null } });
    await db().user.update({ where: { id: reader.id }, data: { disabledAt: new Date() } });
    await db().organization.update({ where: { id: other.orgId }, data: { requiresSecondStep: true } });
    const weird = ["", " ", "nobody", "a@b", "@", `${"x".repeat(300)}@example.test`, "ünïcode@example.test", "K@example.test"];
    const subjects = [`${newId()}@example.test`, stranger.email, writer.email, reader.email, admin.email, ...weird.slice(2)];
    const answers = [];
    for (const email of subjects) {
      fromElsewhere();
      const { status, body, headers } = await exchange(other, email);
      answers.push(JSON.stringify({ status, body, headers: [...headers].filter(([name]) => name !== "date") }));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"status":400,"body":{"error":"invalid_grant"');
    const events = await auditOfOrganization(other.orgId);
    expect(events.slice(0, 5).map(({ data, subjectId }) => [(data as { reason: string }).reason, subjectId])).toEqual([
      ["not_a_member", null],
      ["not_a_member", null],
      ["email_not_verified", writer.id],
      ["user_disabled", reader.id],
      ["requirements_not_met", admin.id],
    ]);
    expect(events).toHaveLength(subjects.length);
    expect(
      events.every(({ type, clientId, ip }) => type === "oauth_token.exchange_refused" && clientId === other.app.clientId && ip),
    ).toBe(true);
  });

  test("S144 refusals are recorded up to limits for an app, an address and in total", async () => {
    world.sendFrom("2001:db8:144:1::1");
    const other = await prepareExchange(world, { name: "Restless" });
    const recorded = () => db().auditEvent.count({ where: { orgId: other.orgId, type: "oauth_token.exchange_refused" } });
    const refuse = async (code: string) => {
      const before = await recorded();
      expect(outcomeOf(await exchange(other, `${newId()}@example.test`))).toBe(code);
      return (await recorded()) - before;
    };
    const counters = (kind: string) =>
      [
        [throttleKey(kind, other.app.clientId), REFUSALS_OF_CLIENT],
        [throttleKey(`${kind}-source`, "2001:db8:144::/48"), ENTRIES_OF_SOURCE.limit],
        [throttleKey(`${kind}-all`, ""), ENTRIES_IN_ALL.limit],
      ] as const;
    for (const [isPrivileged, code] of [
      [true, "400 invalid_grant"],
      [false, "401 invalid_client"],
    ] as const) {
      await db().oAuthApp.update({
        where: { clientId: other.app.clientId },
        data: { privileges: isPrivileged ? ["token-exchange"] : [] },
      });
      expect(await refuse(code)).toBe(1);
      const [own, ...others] = counters(isPrivileged ? "exchange_refusal" : "exchange_refusal_unapproved");
      // S96: for an app that may exchange, only its own refusals count.
      for (const [key, limit] of isPrivileged ? [own] : [own, ...others]) {
        const { count } = await db().throttle.findUniqueOrThrow({ where: { key } });
        await db().throttle.update({ where: { key }, data: { count: limit } });
        expect(await refuse(code), key).toBe(0);
        await db().throttle.update({ where: { key }, data: { count } });
      }
      expect(await refuse(code)).toBe(1);
      const keys = others.map(([key]) => key);
      expect(await db().throttle.count({ where: { key: { in: keys } } })).toBe(isPrivileged ? 0 : 2);
    }
  });

  test("an exchange takes the same time for an unknown address as for a non-member", async () => {
    const time = async (email: string) => {
      fromElsewhere();
      const startedAt = performance.now();
      expect(outcomeOf(await exchange(at, email))).toBe("400 invalid_grant");
      return performance.now() - startedAt;
    };
    await time(at.stranger.email);
    const times: Record<"unknown" | "known", number[]> = { unknown: [], known: [] };
    for (let turn = 0; turn < 12; turn++) {
      times.unknown.push(await time(`${newId()}@example.test`));
      times.known.push(await time(at.stranger.email));
    }
    const fastest = (all: number[]) => Math.min(...all);
    expect(fastest(times.unknown)).toBeGreaterThanOrEqual(24);
    const ratio = fastest(times.unknown) / fastest(times.known);
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(1.33);
  });
});

test("S92 the parameters must be as RFC 8693 requires", async () => {
  const other = await prepareExchange(world);
  const cases: Record<string, string | undefined>[] = [
    { subject_token: undefined },
    { subject_token: "" },
    { subject_token_type: undefined },
    { subject_token_type: "urn:ietf:params:oauth:token-type:id_token" },
    { subject_token_type: ACCESS_TOKEN_TYPE },
    { subject_token_type: USER_EMAIL.toUpperCase() },
    { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
    { requested_token_type: "urn:ietf:params:oauth:token-type:jwt" },
    { actor_token: "kh_oauth_x" },
    { actor_token_type: ACCESS_TOKEN_TYPE },
    { actor_token: "kh_oauth_x", actor_token_type: USER_EMAIL },
    { actor_token: "kh_oauth_unknown", actor_token_type: ACCESS_TOKEN_TYPE },
  ];
  for (const extra of cases) {
    fromElsewhere();
    expect([extra, outcomeOf(await exchange(other, other.writer.email, extra))]).toEqual([extra, "400 invalid_request"]);
  }
  expect(await auditOfOrganization(other.orgId)).toHaveLength(cases.length);
  for (const extra of [
    { subject_token_type: "urn:huggingface:token-type:user-email" },
    { requested_token_type: ACCESS_TOKEN_TYPE },
  ]) {
    expect(outcomeOf(await exchange(other, other.writer.email, extra))).toBe("200");
  }
  const authorization = world.basic(other.app.clientId, other.app.secret ?? "");
  const twice = await world.post("/oauth/token", `${new URLSearchParams(exchangeForm(other.writer.email))}&subject_token=x`, {
    authorization,
  });
  expect([twice.status, (await twice.json()).error]).toEqual([400, "invalid_request"]);
});

test("resource and audience must name the service's API", async () => {
  for (const extra of [{ resource: world.origin }, { resource: `${world.origin}/`, audience: world.origin }]) {
    const { body } = await exchange(at, at.writer.email, extra);
    expect(await introspect(body.access_token)).toMatchObject({ active: true, aud: world.origin });
  }
  const elsewhere: Record<string, string>[] = [
    { resource: "https://mcp.example.com" },
    { audience: "elsewhere" },
    { resource: "no uri" },
  ];
  for (const extra of elsewhere) {
    fromElsewhere();
    expect(outcomeOf(await exchange(at, at.writer.email, extra))).toBe("400 invalid_target");
  }
});

test("S93 the token has the app's scopes, or those of them that the request names", async () => {
  expect((await exchange(at, at.writer.email)).body.scope).toBe("openid profile email read-repos");
  expect((await exchange(at, at.writer.email, { scope: "" })).body.scope).toBe("openid profile email read-repos");
  const some = await exchange(at, at.writer.email, { scope: "read-repos profile read-repos" });
  expect(some.body.scope).toBe("profile read-repos");
  expect(await introspect(some.body.access_token)).toMatchObject({ scope: "profile read-repos" });
  for (const scope of ["jobs", "read-repos jobs", "nothing-of-ours", "offline_access", "openid offline_access", "a\\b"]) {
    fromElsewhere();
    expect([scope, outcomeOf(await exchange(at, at.writer.email, { scope }))]).toEqual([scope, "400 invalid_scope"]);
  }
});

test("S94 the response is that of RFC 8693 §2.2.1, without a refresh token", async () => {
  const { status, headers, body } = await exchange(at, at.writer.email);
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["access_token", "token_type", "expires_in", "scope", "id_token", "issued_token_type"]);
  expect(body).toMatchObject({ token_type: "bearer", expires_in: 28_800, issued_token_type: ACCESS_TOKEN_TYPE });
  expect(body.access_token).toMatch(/^kh_oauth_/);
  expect(headers.get("cache-control")).toContain("no-store");
  const jwks = jose.createLocalJWKSet(await (await fetch(`${world.origin}/oauth/jwks`)).json());
  const { payload } = await jose.jwtVerify(body.id_token ?? "", jwks, { issuer: world.origin, audience: at.app.clientId });
  expect(payload).toMatchObject({ sub: at.writer.id, preferred_username: at.writer.username });
  expect(payload.nonce).toBeUndefined();
  expect(payload.auth_time).toBeUndefined();
  const without = await exchange(at, at.writer.email, { scope: "profile" });
  expect(without.body.id_token).toBeUndefined();
  expect((await world.userinfo(without.body.access_token)).status).toBe(403);
});

test("S96 each exchange writes an entry with app, subject, scopes and address", async () => {
  const other = await prepareExchange(world);
  world.sendFrom("203.0.113.9");
  const { body } = await exchange(other, other.reader.email, { scope: "read-repos" });
  const [event] = await auditOfOrganization(other.orgId);
  expect(event).toMatchObject({
    type: "oauth_token.exchange",
    actorId: null,
    subjectId: other.reader.id,
    clientId: other.app.clientId,
    ip: "203.0.113.9",
    data: { subject: other.reader.email, scopes: ["read-repos"], expiresIn: 28_800 },
  });
  const everything = JSON.stringify([
    await auditOfOrganization(other.orgId),
    await db().oAuthArtifact.findMany({ where: { clientId: other.app.clientId } }),
    await db().oAuthGrant.findMany({ where: { clientId: other.app.clientId } }),
  ]);
  expect(everything).not.toContain(body.access_token.slice(-20));
  fromElsewhere();
});

test("S97 every token expires within 30 days", async () => {
  const other = await prepareExchange(world);
  await db().oAuthApp.update({ where: { id: other.app.id }, data: { accessTokenSeconds: 90 * 86_400 } });
  const { body } = await exchange(other, other.reader.email, { expires_in: "99999999" });
  expect(body.expires_in).toBe(30 * 86_400);
  const { exp, iat } = await introspect(body.access_token, other);
  expect(exp - iat).toBe(30 * 86_400);
});

test("S101 a client ID is never a user's ID", async () => {
  const [apps, users] = [
    await db().oAuthApp.findMany({ select: { clientId: true } }),
    await db().user.findMany({ select: { id: true } }),
  ];
  expect(apps.length).toBeGreaterThan(3);
  for (const { clientId } of apps) expect(clientId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-/);
  for (const { id } of users) expect(id).toMatch(/^[0-9a-f]{24}$/);
});

describe("RFC 8693 §4.1 delegation", () => {
  test("introspection, the audit log and the next token name the actor token's user", async () => {
    const other = await prepareExchange(world);
    const actor = (await exchange(other, other.admin.email)).body.access_token;
    const as = (actor_token: string) => ({ actor_token, actor_token_type: ACCESS_TOKEN_TYPE });
    const first = await exchange(other, other.reader.email, as(actor));
    const { clientId } = other.app;
    expect(await introspect(first.body.access_token, other)).toMatchObject({
      sub: other.reader.id,
      act: { sub: other.admin.id, client_id: clientId },
    });
    expect((await auditOfOrganization(other.orgId)).at(-1)).toMatchObject({
      actorId: other.admin.id,
      subjectId: other.reader.id,
      data: { act: { sub: other.admin.id, client_id: clientId } },
    });
    const second = await exchange(other, other.writer.email, as(first.body.access_token));
    expect(await introspect(second.body.access_token, other)).toMatchObject({
      sub: other.writer.id,
      act: { sub: other.reader.id, act: { sub: other.admin.id } },
    });
    let last = second.body.access_token;
    let depth = 2;
    for (; depth < 9; depth++) {
      const next = await exchange(other, depth % 2 ? other.writer.email : other.reader.email, as(last));
      if (next.status !== 200) {
        expect(outcomeOf(next)).toBe("400 invalid_request");
        break;
      }
      last = next.body.access_token;
    }
    expect(depth).toBe(5);
  });

  test("an actor token of another app or one that has ended fails with invalid_request", async () => {
    const other = await prepareExchange(world);
    const foreign = (await exchange(at, at.admin.email)).body.access_token;
    const ended = (await exchange(other, other.admin.email)).body.access_token;
    await db().membership.deleteMany({ where: { orgId: other.orgId, userId: other.admin.id } });
    for (const actor_token of [foreign, ended, "x".repeat(2_000)]) {
      fromElsewhere();
      const extra = { actor_token, actor_token_type: ACCESS_TOKEN_TYPE };
      expect(outcomeOf(await exchange(other, other.writer.email, extra))).toBe("400 invalid_request");
    }
  });
});

describe("hostile and odd requests", () => {
  test("JSON is accepted like a form", async () => {
    const authorization = world.basic(at.app.clientId, at.app.secret ?? "");
    const send = (body: string) =>
      fetch(`${world.origin}/oauth/token`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body,
      });
    expect((await send(JSON.stringify(exchangeForm(at.writer.email)))).status).toBe(200);
    expect((await send(JSON.stringify({ ...exchangeForm(at.writer.email), subject_token: ["x"] }))).status).toBe(400);
    expect(
      (
        await send(
          `{"grant_type":"${TOKEN_EXCHANGE_GRANT}","subject_token":"\\ud800@x.test","subject_token_type":"${USER_EMAIL}"}`,
        )
      ).status,
    ).toBe(400);
  });

  test("S51 NUL, a megabyte and a very long address get a 4xx response", async () => {
    fromElsewhere();
    expect(outcomeOf(await exchange(at, "a\0@example.test"))).toBe("400 invalid_request");
    expect((await exchange(at, "x".repeat(1_000_000))).status).toBe(413);
    expect(outcomeOf(await exchange(at, `${"x".repeat(50_000)}@example.test`))).toBe("400 invalid_grant");
  });

  test("fifty exchanges at once yield fifty tokens and fifty entries", async () => {
    const other = await prepareExchange(world);
    const all = await Promise.all(Array.from({ length: 50 }, () => exchange(other, other.writer.email, { scope: "profile" })));
    expect(new Set(all.map(({ body }) => body.access_token)).size).toBe(50);
    expect(all.every(({ status }) => status === 200)).toBe(true);
    expect(await auditOfOrganization(other.orgId)).toHaveLength(50);
    expect(await db().oAuthGrant.count({ where: { boundOrgId: other.orgId } })).toBe(50);
  });
});

test("an exchange takes two statements and uses only indexes, even with 20,000 members", async () => {
  const other = await prepareExchange(world);
  const ids = "SELECT n, 'ee' || lpad(to_hex(n), 22, '0') AS id FROM generate_series(1, 20000) AS n";
  await db().$executeRawUnsafe(`INSERT INTO "user" (id, username, full_name, email, email_canonical, email_verified_at)
    SELECT id, 'crowd-' || n, 'Crowd', 'crowd-' || n || '@example.test', 'crowd-' || n || '@example.test', now() FROM (${ids}) m`);
  await db().$executeRawUnsafe(
    `INSERT INTO membership (org_id, user_id, role) SELECT $1, id, 'read' FROM (${ids}) m`,
    other.orgId,
  );
  await exchange(other, other.writer.email);
  const { result, statements } = await countStatements(() => exchange(other, "crowd-12345@example.test", { scope: "profile" }));
  expect([outcomeOf(result), statements]).toEqual(["200", 2]);
  const plan = await db().$queryRawUnsafe<Record<string, string>[]>(
    `EXPLAIN ${FIND_EXCHANGE.replace("$1", "'{x}'").replace("$2", "'{y}'")}`,
  );
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).not.toMatch(/Seq Scan on (membership|"?user"?)/);
});

test("an app that requires bound tokens needs a fresh proof", async () => {
  const other = await prepareExchange(world, { isDpopRequired: true });
  fromElsewhere();
  expect(outcomeOf(await exchange(other, other.writer.email))).toBe("400 invalid_dpop_proof");
  const key = await proofKey();
  const dpop = await key.proof("POST", `${world.origin}/oauth/token`);
  const bound = await exchange(other, other.writer.email, { scope: "openid" }, { dpop });
  expect([bound.status, bound.body.token_type]).toEqual([200, "DPoP"]);
  expect(outcomeOf(await exchange(other, other.writer.email, {}, { dpop }))).toBe("400 invalid_dpop_proof");
  const elsewhere = await key.proof("POST", `${world.origin}/oauth/par`);
  expect(outcomeOf(await exchange(other, other.writer.email, {}, { dpop: elsewhere }))).toBe("400 invalid_dpop_proof");
  expect(await introspect(bound.body.access_token, other)).toMatchObject({ token_type: "DPoP", cnf: { jkt: key.thumbprint } });
  expect((await world.userinfo(bound.body.access_token)).status).toBe(401);
});

test("S96 a token is stored with its Grant even if a Next page requested the engine first", async () => {
  const { keyhookProvider } = globalThis as typeof globalThis & { keyhookProvider?: { current?: unknown } };
  if (keyhookProvider) keyhookProvider.current = undefined;
  vi.resetModules();
  await (await import("../provider.ts")).currentProvider();
  expect(outcomeOf(await exchange(at, at.writer.email))).toBe("200");
});
