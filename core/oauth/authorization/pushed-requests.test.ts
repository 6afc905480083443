import * as client from "openid-client";
import { afterAll, describe, expect, test } from "vitest";
import { throttleKey } from "#core/accounts/throttle.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { FAILURES_OF_CLIENT } from "../failure-throttle.ts";
import { openQuestion, PKCE, resume } from "../testing/authorization.ts";
import { proofKey } from "../testing/dpop.ts";
import { asApp, type Prepared, prepare, redemption, signIn } from "../testing/sign-in.ts";
import { asked, visitSite } from "../testing/site-visit.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { STORED_REQUESTS_OF_CLIENT } from "./prepare-authorization.ts";

/** RFC 9126. */
const world = await startWorld();
afterAll(() => world.stop());

const PAR = "/oauth/par";
const URN = "urn:ietf:params:oauth:request_uri:";

const request = (at: Prepared, parameters: Record<string, string | undefined> = {}) =>
  Object.fromEntries(new URL(world.authorizeUrl(at.app, { ...PKCE, ...parameters })).searchParams);

const push = (at: Prepared, parameters: Record<string, string | undefined> = {}) =>
  asApp(world, at.app, PAR, request(at, parameters));

async function pushed(at: Prepared, parameters: Record<string, string | undefined> = {}): Promise<string> {
  const response = await push(at, parameters);
  expect(response.status).toBe(201);
  return (await response.json()).request_uri;
}

const startOf = (at: Prepared, requestUri: string, extra: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({ client_id: at.app.clientId, request_uri: requestUri, ...extra })}`;

const visit = (at: Prepared, requestUri: string, extra: Record<string, string> = {}) =>
  world.follow(at.browser, startOf(at, requestUri, extra), at.session);

async function inAnotherBrowser(at: Prepared): Promise<Prepared> {
  const browser = world.browser();
  return { ...at, browser, session: await world.signIn(browser, at.person) };
}

async function expectPage(answer: URL | Response, error: string) {
  expect(answer).toBeInstanceOf(Response);
  const page = answer as Response;
  expect(page.status).toBe(400);
  expect(page.headers.get("content-type")).toMatch(/^text\/html/);
  expect(await page.text()).toContain(error);
}

describe("RFC 9126 §2 a request is pushed and then opened in the browser", () => {
  test.each([
    ["public", false],
    ["confidential", true],
  ])("by a %s app, as openid-client sends it", async (_kind, isConfidential) => {
    const at = await prepare(world, { isConfidential });
    const authentication = at.app.secret ? client.ClientSecretBasic(at.app.secret) : client.None();
    const config = await client.discovery(new URL(world.origin), at.app.clientId, undefined, authentication, {
      execute: [client.allowInsecureRequests],
    });
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const url = await client.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT_URI,
      scope: "openid profile",
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: "the state",
    });
    expect([...url.searchParams.keys()].sort()).toEqual(["client_id", "request_uri"]);
    const callback = (await world.follow(at.browser, url.href, at.session)) as URL;
    const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState: "the state" });
    expect(tokens.claims()).toMatchObject({ sub: at.person.id });
    expect(tokens.scope).toBe("openid profile");
  });

  test("the response has status 201, and the request is valid for 60 seconds", async () => {
    const response = await push(await prepare(world));
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const body = await response.json();
    expect(body).toEqual({ request_uri: expect.stringMatching(`^${URN}[\\w-]{21,}$`), expires_in: 60 });
  });

  test("parameters of the URL have no effect (S33)", async () => {
    const at = await prepare(world);
    const other = await world.organization(`added-${newId()}`, { [at.person.id]: "admin" });
    const mine = await world.organization(`pushed-${newId()}`, { [at.person.id]: "admin" });
    const uri = await pushed(at, { scope: "openid", state: "pushed", orgIds: mine });
    const extra = { scope: "openid email", state: "added", redirect_uri: "https://evil.example/", orgIds: other, nonce: "added" };
    const landed = (await visit(at, uri, extra)) as URL;
    expect(landed.origin + landed.pathname).toBe(REDIRECT_URI);
    expect(landed.searchParams.get("state")).toBe("pushed");
    const { rows } = await pool().query("SELECT scopes, org_ids FROM oauth_consent WHERE user_id = $1", [at.person.id]);
    expect(rows).toEqual([{ scopes: ["openid"], org_ids: [mine] }]);
  });

  test("offline_access is kept without prompt=consent (decision 012)", async () => {
    const at = await prepare(world, { scopes: ["openid", "read-repos"] });
    for (const [scope, granted] of [
      ["openid offline_access", "openid offline_access"],
      [undefined, "openid read-repos"],
    ] as const) {
      const verifier = client.randomPKCECodeVerifier();
      const code_challenge = await client.calculatePKCECodeChallenge(verifier);
      const landed = (await visit(at, await pushed(at, { scope, code_challenge }))) as URL;
      const code = landed.searchParams.get("code") ?? "";
      const tokens = await (await asApp(world, at.app, "/oauth/token", redemption({ code, verifier }))).json();
      expect(tokens.scope).toBe(granted);
      expect("refresh_token" in tokens).toBe(scope !== undefined);
    }
  });

  test("repeated orgIds are joined into one list", async () => {
    const at = await prepare(world);
    const orgIds = await Promise.all(["a", "b"].map((x) => world.organization(`${x}-${newId()}`, { [at.person.id]: "read" })));
    const form = new URLSearchParams(request(at) as Record<string, string>);
    for (const id of orgIds) form.append("orgIds", id);
    const response = await world.post(PAR, form.toString());
    expect(response.status).toBe(201);
    await visit(at, (await response.json()).request_uri);
    const { rows } = await pool().query("SELECT org_ids FROM oauth_consent WHERE user_id = $1", [at.person.id]);
    expect([...rows[0].org_ids].sort()).toEqual([...orgIds].sort());
  });

  test("prompt=none gets an answer without a page (S14)", async () => {
    const at = await prepare(world);
    const landed = (await visit(at, await pushed(at, { prompt: "none" }))) as URL;
    expect(landed.searchParams.get("error")).toBe("consent_required");
  });
});

describe("RFC 9126 §2.3 an invalid request gets its error when it is pushed, as JSON", () => {
  test.each<[string, Record<string, string | undefined>, number, string]>([
    ["S2 a redirect URI that is not registered", { redirect_uri: "https://evil.example/cb" }, 400, "invalid_request"],
    ["S5 a redirect URI with a script scheme", { redirect_uri: "javascript:alert(1)" }, 400, "invalid_request"],
    ["S20 a redirect URI of our own", { redirect_uri: "http://localhost:3000/" }, 400, "invalid_request"],
    ["S8 a public app without PKCE", { code_challenge: undefined, code_challenge_method: undefined }, 400, "invalid_request"],
    ["S9 the plain method", { code_challenge_method: "plain" }, 400, "invalid_request"],
    ["S10 a malformed challenge", { code_challenge: "short" }, 400, "invalid_request"],
    ["S7 another response type", { response_type: "token" }, 400, "unsupported_response_type"],
    ["S17 a scope beyond the app's", { scope: "openid write-repos" }, 400, "invalid_scope"],
    ["S17 unknown scopes", { scope: "nothing known" }, 400, "invalid_scope"],
    ["S54 an unknown resource", { resource: "https://elsewhere.example" }, 400, "invalid_target"],
    ["S19 a request object", { request: "eyJhbGciOiJub25lIn0.e30." }, 400, "request_not_supported"],
    ["RFC 9126 §2.1 a request_uri inside", { request_uri: `${URN}x` }, 400, "request_uri_not_supported"],
  ])("%s", async (_what, parameters, status, error) => {
    const response = await push(await prepare(world), parameters);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.headers.get("location")).toBeNull();
    expect([response.status, (await response.json()).error]).toEqual([status, error]);
  });

  test("S11 a parameter that is sent twice", async () => {
    const at = await prepare(world);
    for (const [name, value] of [
      ["scope", "openid"],
      ["x-unknown", "1"],
      ["client_id", at.app.clientId],
    ]) {
      const form = new URLSearchParams(request(at) as Record<string, string>);
      if (name === "x-unknown") form.append(name, value as string);
      form.append(name as string, value as string);
      const response = await world.post(PAR, form.toString());
      expect([name, response.status, (await response.json()).error]).toEqual([name, 400, "invalid_request"]);
    }
  });

  test("S39 a client that does not authenticate fails with 401", async () => {
    const at = await prepare(world, { isConfidential: true });
    const bare = await world.post(PAR, request(at) as Record<string, string>);
    const wrong = await world.post(PAR, request(at) as Record<string, string>, {
      authorization: world.basic(at.app.clientId, "wrong"),
    });
    const unknown = await world.post(PAR, { ...request(at), client_id: newId() } as Record<string, string>);
    for (const response of [bare, wrong, unknown]) {
      expect([response.status, (await response.json()).error]).toEqual([401, "invalid_client"]);
    }
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic\b/);
  });

  test("S56 wrong secrets are limited", async () => {
    world.sendFrom("192.0.2.77");
    const at = await prepare(world, { isConfidential: true });
    const attempt = () =>
      world.post(PAR, request(at) as Record<string, string>, { authorization: world.basic(at.app.clientId, newId()) });
    await Promise.all(Array.from({ length: FAILURES_OF_CLIENT }, attempt));
    expect((await attempt()).status).toBe(429);
    world.sendFrom("127.0.0.1");
  });

  test("S56 requests of one address are limited, except those of an authenticated site", {
    timeout: 60_000,
  }, async () => {
    world.sendFrom("192.0.2.78");
    const [anybody, site] = [await prepare(world), await prepare(world, { isConfidential: true })];
    const statuses = async (at: Prepared) => {
      const answers = await Promise.all(Array.from({ length: STORED_REQUESTS_OF_CLIENT.limit + 5 }, () => push(at)));
      return answers.filter(({ status }) => status === 429);
    };
    const refused = await statuses(anybody);
    expect(refused).toHaveLength(5);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await statuses(site)).toEqual([]);
    world.sendFrom("127.0.0.1");
  });

  test("S56 a public client that has got tokens at an address has ten times the limit there", async () => {
    world.sendFrom("192.0.2.80");
    const at = await signIn(world);
    const counter = throttleKey("pushed-request-client", `192.0.2.80 ${at.app.clientId}`);
    const statusAfter = async (count: number) => {
      const resetAt = new Date(Date.now() + 60_000);
      await db().throttle.upsert({ where: { key: counter }, create: { key: counter, count, resetAt }, update: { count } });
      return (await push(at)).status;
    };
    expect(await statusAfter(STORED_REQUESTS_OF_CLIENT.limit)).toBe(201);
    expect(await statusAfter(10 * STORED_REQUESTS_OF_CLIENT.limit)).toBe(429);
    world.sendFrom("127.0.0.1");
  });

  test("S143 a limited number of an app's proofs is remembered", { timeout: 60_000 }, async () => {
    world.sendFrom("192.0.2.79");
    const [at, key] = [await prepare(world), await proofKey()];
    const remembered = async () => {
      const { rows } = await pool().query("SELECT count(*)::int FROM oauth_artifact WHERE model = 'ReplayDetection'");
      return rows[0].count as number;
    };
    const before = await remembered();
    const answers = await Promise.all(
      Array.from({ length: STORED_REQUESTS_OF_CLIENT.limit + 5 }, async () =>
        world.post(PAR, request(at) as Record<string, string>, { dpop: await key.proof("POST", world.origin + PAR) }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(STORED_REQUESTS_OF_CLIENT.limit);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await remembered()) - before).toBe(STORED_REQUESTS_OF_CLIENT.limit);
    world.sendFrom("127.0.0.1");
  });

  test("S51 other methods, malformed bodies and long bodies get a 4xx response", async () => {
    const at = await prepare(world);
    const good = new URLSearchParams(request(at) as Record<string, string>).toString();
    expect((await fetch(world.origin + PAR)).status).toBe(405);
    for (const body of [
      `${good}&login_hint=a%00b`,
      `${good}&login_hint=%ff`,
      `${good}&${"a=1&".repeat(10_000)}`,
      `${good}&state=${"x".repeat(1024 * 1024)}`,
      JSON.stringify(request(at)),
      "",
    ]) {
      const response = await world.post(PAR, body);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    }
  });
});

describe("RFC 9126 §4 a request_uri", () => {
  test("shows an error page when it is opened after the answer", async () => {
    const at = await prepare(world);
    const uri = await pushed(at);
    expect(((await visit(at, uri)) as URL).searchParams.get("code")).toBeTruthy();
    await expectPage(await visit(at, uri), "This sign-in link has expired");
  });

  test("yields one code if several sign-ins with it finish at the same moment", async () => {
    const at = await prepare(world);
    await visit(at, await pushed(at));
    const uri = await pushed(at);
    const answers = await Promise.all(Array.from({ length: 8 }, () => visit(at, uri)));
    const codes = answers.filter((answer) => answer instanceof URL && answer.searchParams.has("code"));
    expect(codes).toHaveLength(1);
    for (const answer of answers) {
      if (answer instanceof URL && !answer.searchParams.has("code")) {
        expect(answer.searchParams.get("error")).toBe("invalid_request_uri");
      }
    }
  });

  test("yields one code even if housekeeping runs before a second answer", async () => {
    const at = await prepare(world);
    const uri = await pushed(at);
    const query = new URLSearchParams({ client_id: at.app.clientId, request_uri: uri }).toString();
    const people = [at, await inAnotherBrowser(at)];
    const questions = await Promise.all(people.map((person) => openQuestion(person, query)));
    // A second answer is recognized by this row, so housekeeping must keep the row until then.
    const passed = `UPDATE oauth_artifact SET expires_at = expires_at - interval '59 minutes', payload = jsonb_set(payload, '{exp}', '1')
      WHERE model = 'PushedAuthorizationRequest'`;
    await pool().query(passed);
    await pool().query("DELETE FROM oauth_artifact WHERE model = 'PushedAuthorizationRequest' AND expires_at < now()");
    const outcomes = [];
    for (const [n, { allow }] of questions.entries()) outcomes.push(await resume(people[n] as Prepared, await allow()));
    expect(outcomes.map(({ answer }) => answer.error ?? Object.keys(answer).includes("code"))).toEqual([
      true,
      "invalid_request_uri",
    ]);
  });

  test("shows an error page after it has expired", async () => {
    const at = await prepare(world);
    const uri = await pushed(at);
    await pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{exp}', to_jsonb((payload->>'exp')::int - 61))
        WHERE model = 'PushedAuthorizationRequest' AND client_id IS NULL`,
    );
    await expectPage(await visit(at, uri), "This sign-in link has expired");
  });

  test("is refused for another client, and stays valid for its own", async () => {
    const [at, other] = [await prepare(world), await prepare(world)];
    const uri = await pushed(at);
    await expectPage(await visit(other, uri), "invalid_request_object");
    expect(((await visit(at, uri)) as URL).searchParams.get("code")).toBeTruthy();
  });

  test("that nobody pushed fails with invalid_request_uri (S19)", async () => {
    const at = await prepare(world);
    for (const foreign of ["https://evil.example/request.jwt", "urn:example:x", "x"]) {
      const landed = (await visit(at, foreign)) as URL;
      expect([landed.origin + landed.pathname, landed.searchParams.get("error")]).toEqual([
        REDIRECT_URI,
        "request_uri_not_supported",
      ]);
    }
    for (const made of [`${URN}x`, URN, `${URN}hashed:x`, `${URN}${"x".repeat(500)}`]) {
      await expectPage(await visit(at, made), "invalid_request_uri");
    }
  });

  test("is stored as a hash, without the client's authentication (S55)", async () => {
    const at = await prepare(world, { isConfidential: true });
    const uri = await pushed(at);
    const { rows } = await pool().query("SELECT * FROM oauth_artifact WHERE model = 'PushedAuthorizationRequest'");
    const text = JSON.stringify(rows) + rows.map(({ payload }) => Buffer.from(payload.request.split(".")[1], "base64url")).join();
    expect(text).not.toContain(uri.slice(URN.length));
    expect(text).not.toContain(at.app.secret);
  });

  test("parallel pushes are separate requests", async () => {
    const at = await prepare(world);
    const uris = await Promise.all(Array.from({ length: 20 }, () => pushed(at)));
    expect(new Set(uris).size).toBe(20);
  });
});

describe("RFC 9126 §5, §6 an app that requires pushed requests", () => {
  test("cannot start a sign-in with a request that was not pushed", async () => {
    const at = await prepare(world, { isParRequired: true });
    const plain = (await world.follow(at.browser, world.authorizeUrl(at.app, PKCE), at.session)) as URL;
    expect(plain.searchParams.get("error")).toBe("invalid_request");
    expect(plain.searchParams.get("error_description")).toContain("Pushed Authorization Request");
    expect(((await visit(at, await pushed(at))) as URL).searchParams.get("code")).toBeTruthy();
  });

  test("may have a metadata document that requires them", async () => {
    const at = await visitSite(world, { require_pushed_authorization_requests: true });
    const url = world.authorizeUrl(at.app, asked(at, PKCE));
    const plain = (await world.follow(at.browser, url, at.session)) as URL;
    expect(plain.searchParams.get("error")).toBe("invalid_request");
    const response = await world.post(PAR, Object.fromEntries(new URL(url).searchParams));
    expect(response.status).toBe(201);
    const { request_uri } = await response.json();
    const start = `/oauth/authorize?${new URLSearchParams({ client_id: at.app.clientId, request_uri })}`;
    const landed = (await world.follow(at.browser, start, at.session)) as URL;
    expect([landed.origin + landed.pathname, landed.searchParams.has("code")]).toEqual([at.site.redirectUri, true]);
    await at.site.stop();
  });

  test("discovery names the endpoint as optional", async () => {
    const metadata = await world.discover();
    expect(metadata.pushed_authorization_request_endpoint).toBe(world.origin + PAR);
    expect(metadata.require_pushed_authorization_requests ?? false).toBe(false);
  });
});
