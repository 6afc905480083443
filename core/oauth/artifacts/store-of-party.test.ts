import { afterAll, afterEach, describe, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import type { NewApp } from "../apps/create-app.ts";
import { REQUEST_MAX_BYTES } from "../authorization/prepare-authorization.ts";
import { denyConsent } from "../consents/grant-consent.ts";
import { ENGINE_SESSION_SECONDS } from "../lifetimes.ts";
import { STATE_MAX_BYTES } from "../logout/logout.ts";
import { ask, loginStep, type Outcome, PKCE, resume } from "../testing/authorization.ts";
import { asApp, type Prepared, prepare, signIn } from "../testing/sign-in.ts";
import { startWorld, type TestApp } from "../testing/world.ts";
import { dropOldest, STORED_LIMITS } from "./store-of-party.ts";

const world = await startWorld();
afterEach(() => world.sendFrom("127.0.0.1"));
afterAll(() => world.stop());

type Model = keyof typeof STORED_LIMITS;

async function countOf(model: Model, where = "true"): Promise<number> {
  const { rows } = await pool().query(`SELECT count(*)::int AS n FROM oauth_artifact WHERE model = $1 AND ${where}`, [model]);
  return rows[0].n;
}

async function copyNewest(model: Model, times: number): Promise<void> {
  await pool().query(
    `INSERT INTO oauth_artifact (model, id_hash, payload, expires_at, party, created_at)
     SELECT a.model, 'copy ' || gen_random_uuid(), a.payload, a.expires_at, a.party, a.created_at - make_interval(secs => n)
     FROM generate_series(1, $2) AS n,
       (SELECT * FROM oauth_artifact WHERE model = $1 ORDER BY created_at DESC LIMIT 1) AS a`,
    [model, times],
  );
}

const isCopy = "id_hash LIKE 'copy %'";
const interactionOf = ({ browser }: Prepared, { location }: Outcome) => ({
  uid: location?.pathname.split("/").at(-1) ?? "",
  cookie: browser.cookieHeader(location?.href ?? ""),
});
const stranger = (at: Prepared) => ({ ...at, browser: world.browser() });

describe("S143 a sign-out without a signed-in user stores nothing", () => {
  test.each(["GET", "POST"])("with %s", async (method) => {
    const at = await prepare(world);
    const before = await countOf("Session");
    const parameters = new URLSearchParams({ client_id: at.app.clientId, state: "x".repeat(STATE_MAX_BYTES) });
    for (const browser of [world.browser(), world.browser()]) {
      const url = method === "GET" ? `/oauth/logout?${parameters}` : "/oauth/logout";
      const answer = await browser.fetch(url, { method, ...(method === "POST" && { body: parameters }) });
      expect(answer.status).toBe(303);
    }
    expect(await countOf("Session")).toBe(before);
  });

  test("even with the cookie of an ended session", async () => {
    const at = await signIn(world);
    await pool().query("DELETE FROM oauth_artifact WHERE model = 'Session'");
    const thief = world.browser();
    for (const pair of at.browser.cookieHeader("/oauth/logout").split("; ")) {
      const cut = pair.indexOf("=");
      if (pair.startsWith("provider")) thief.setCookie(pair.slice(0, cut), pair.slice(cut + 1));
    }
    expect(thief.cookieHeader("/")).toContain("provider");
    expect((await thief.fetch("/oauth/logout")).status).toBe(303);
    expect((await ask({ ...at, browser: thief })).isQuestion).toBe(true);
    expect(await countOf("Session")).toBe(0);
  });
});

test("S143 the state of a sign-out has a maximum length", async () => {
  const { browser } = await prepare(world);
  const answer = await browser.fetch("/oauth/logout", {
    method: "POST",
    body: new URLSearchParams({ state: "x".repeat(STATE_MAX_BYTES + 1) }),
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("state is longer than");
  expect((await browser.fetch(`/oauth/logout?state=${"x".repeat(STATE_MAX_BYTES)}`)).status).toBe(200);
});

test("S143 the question at a sign-out is stored for minutes, and a limited number of times", async () => {
  const { browser } = await prepare(world);
  await browser.fetch("/oauth/logout");
  const ofNobody = "account_id IS NULL AND payload ? 'state'";
  expect(await countOf("Session", `${ofNobody} AND expires_at > now() + interval '1 hour'`)).toBe(0);
  await copyNewest("Session", STORED_LIMITS.Session.ofParty + 10);
  const withoutCookies = world.browser();
  for (const pair of browser.cookieHeader("/login").split("; "))
    withoutCookies.setCookie(...(pair.split("=") as [string, string]));
  await withoutCookies.fetch("/oauth/logout");
  expect(await countOf("Session", isCopy)).toBeLessThan(STORED_LIMITS.Session.ofParty);
});

test("a session with an account lives as long as the site session", async () => {
  await signIn(world);
  const { rows } = await pool().query(
    "SELECT max(extract(epoch FROM expires_at - now()))::int AS left FROM oauth_artifact WHERE model = 'Session'",
  );
  expect(rows[0].left).toBeGreaterThan(ENGINE_SESSION_SECONDS - 600);
});

describe("S143 a request of more than 8 KiB", () => {
  const long = { login_hint: "x".repeat(REQUEST_MAX_BYTES) };

  test.each(["GET", "POST"] as const)(
    "gets an error page at the authorization endpoint with %s, and is not stored",
    async (method) => {
      const at = stranger(await prepare(world));
      const before = await countOf("Interaction");
      const answer = await ask(at, long, method);
      expect([answer.status, answer.location]).toEqual([400, undefined]);
      expect(answer.page).toContain(`longer than ${REQUEST_MAX_BYTES.toLocaleString("en")} bytes`);
      expect(await countOf("Interaction")).toBe(before);
    },
  );

  test.each(["/oauth/par", "/oauth/device"])("fails with invalid_request at %s", async (path) => {
    const at = await prepare(world, { isConfidential: true, isDeviceFlowAllowed: true });
    const form = Object.fromEntries(new URL(world.authorizeUrl(at.app, { ...PKCE })).searchParams);
    const answer = await asApp(world, at.app, path, { ...form, ...long });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: "invalid_request", error_description: /longer than/ });
  });

  test("gets an error, whereas a request just below the limit leads to the question", async () => {
    const at = await prepare(world);
    const state = "s".repeat(REQUEST_MAX_BYTES - 600);
    const landed = await world.follow(at.browser, world.authorizeUrl(at.app, { ...PKCE, state }), at.session);
    expect((landed as URL).searchParams.get("state")).toBe(state);
  });
});

describe("S143 questions to users", () => {
  test("of one address are limited, and only the oldest from that address are deleted", async () => {
    world.sendFrom("2001:db8:1::1");
    const mine = stranger(await prepare(world));
    const asked = await ask(mine);
    await copyNewest("Interaction", STORED_LIMITS.Interaction.ofParty + 20);
    world.sendFrom("192.0.2.10");
    const neighbour = stranger(mine);
    const neighbours = await ask(neighbour);
    world.sendFrom("2001:db8:1:2::1");
    expect((await ask(stranger(mine))).isQuestion).toBe(true);
    expect(await countOf("Interaction", isCopy)).toBe(STORED_LIMITS.Interaction.ofParty - 2);
    const person = await world.user("behind-the-same-address");
    for (const [at, question] of [
      [mine, asked],
      [neighbour, neighbours],
    ] as const) {
      const step = await loginStep(at, question, await world.signIn(at.browser, person));
      expect(step).toMatchObject({ step: "continue" });
      expect((await resume(at, (step as { url: string }).url)).isQuestion).toBe(true);
    }
  });

  test("are deleted even if they were answered, and are not stored again", async () => {
    world.sendFrom("192.0.2.20");
    const at = stranger(await prepare(world));
    const asked = await ask(at);
    const deny = () => denyConsent(interactionOf(at, asked), undefined, noOrigin);
    const outcomes = await Promise.allSettled([deny(), deny(), deny()]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await copyNewest("Interaction", STORED_LIMITS.Interaction.ofParty + 5);
    const before = await countOf("Interaction", isCopy);
    expect((await ask(stranger(at))).isQuestion).toBe(true);
    expect(await countOf("Interaction", isCopy)).toBe(before - 7);
    expect(await countOf("Interaction", "party IS NULL")).toBe(0);
  });

  test("are limited in total, and the address with the most loses its oldest", async () => {
    await pool().query("DELETE FROM oauth_artifact WHERE model = 'Interaction'");
    const at = stranger(await prepare(world));
    for (const [address, copies] of [
      ["192.0.2.21", 0],
      ["192.0.2.22", 40],
      ["192.0.2.23", 10],
    ] as const) {
      world.sendFrom(address);
      await ask(stranger(at));
      if (copies > 0) await copyNewest("Interaction", copies);
    }
    await dropOldest("Interaction", { ...STORED_LIMITS.Interaction, inAll: 22 });
    const { rows } = await pool().query(
      "SELECT count(*)::int AS n FROM oauth_artifact WHERE model = 'Interaction' GROUP BY party ORDER BY n",
    );
    expect(rows.map(({ n }) => n)).toEqual([1, 10, 11]);
  });
});

describe("S143 pushed requests and device codes", () => {
  test("of an authenticated site are limited separately from those of other sites", async () => {
    const [site, other] = [await prepare(world, { isConfidential: true }), await prepare(world, { isConfidential: true })];
    const push = async (at: Prepared) => {
      const form = Object.fromEntries(new URL(world.authorizeUrl(at.app, { ...PKCE })).searchParams);
      const answer = await asApp(world, at.app, "/oauth/par", form);
      expect(answer.status).toBe(201);
      return `/oauth/authorize?${new URLSearchParams({ client_id: at.app.clientId, request_uri: (await answer.json()).request_uri })}`;
    };
    const others = await push(other);
    await push(site);
    await copyNewest("PushedAuthorizationRequest", STORED_LIMITS.PushedAuthorizationRequest.ofParty + 20);
    const newest = await push(site);
    expect(await countOf("PushedAuthorizationRequest", isCopy)).toBe(STORED_LIMITS.PushedAuthorizationRequest.ofParty - 2);
    for (const [at, url] of [
      [site, newest],
      [other, others],
    ] as const) {
      expect(((await world.follow(at.browser, url, at.session)) as URL).searchParams.get("code")).toBeTruthy();
    }
  });

  test("are limited in total, where all clients of an account count together", async () => {
    await pool().query("DELETE FROM oauth_artifact WHERE model = 'PushedAuthorizationRequest'");
    const [flood, honest] = [await prepare(world), await prepare(world)];
    const ofOrganization = { orgId: await world.organization("of-the-flood", { [flood.person.id]: "admin" }) };
    const stored = async (app: TestApp, copies: number) => {
      const form = Object.fromEntries(new URL(world.authorizeUrl(app, { ...PKCE })).searchParams);
      expect((await asApp(world, app, "/oauth/par", form)).status).toBe(201);
      await copyNewest("PushedAuthorizationRequest", copies - 1);
      const newest =
        "SELECT party FROM oauth_artifact WHERE model = 'PushedAuthorizationRequest' ORDER BY created_at DESC LIMIT 1";
      return (await pool().query(newest)).rows[0].party;
    };
    const make = (owner = flood.person, more: Partial<NewApp> = {}) => world.app(owner, { isConfidential: true, ...more });
    const floods = [await stored(await make(), 8), await stored(await make(flood.person, { owner: ofOrganization }), 8)];
    world.sendFrom("2001:db8:3::1");
    for (const network of ["1", "2"]) {
      const app = await make();
      await pool().query("UPDATE oauth_app SET owner_user_id = NULL WHERE client_id = $1", [app.clientId]);
      world.sendFrom(`2001:db8:3:${network}::1`);
      floods.push(await stored(app, 8));
    }
    const kept = await stored(await make(honest.person), 12);
    await dropOldest("PushedAuthorizationRequest", { ...STORED_LIMITS.PushedAuthorizationRequest, inAll: 30 });
    const { rows } = await pool().query(
      "SELECT party, count(*)::int AS n FROM oauth_artifact WHERE model = 'PushedAuthorizationRequest' GROUP BY party",
    );
    const left = (parties: string[]) => rows.reduce((sum, { party, n }) => sum + (parties.includes(party) ? n : 0), 0);
    expect([left([kept]), left(floods.slice(0, 2)), left(floods.slice(2))]).toEqual([10, 10, 10]);
  });

  test("S56 of one address are limited over all apps, and an IPv6 address counts by its /48", async () => {
    const at = await prepare(world, { isDeviceFlowAllowed: true });
    const start = (app = at.app) => asApp(world, app, "/oauth/device", { scope: "openid" });
    world.sendFrom("2001:db8:2::1");
    expect((await start()).status).toBe(200);
    await copyNewest("DeviceCode", STORED_LIMITS.DeviceCode.ofParty + 20);
    world.sendFrom("2001:db8:2:9::1");
    expect((await start()).status).toBe(200);
    expect(await countOf("DeviceCode", isCopy)).toBe(STORED_LIMITS.DeviceCode.ofParty - 2);
    const statuses = new Set<number>();
    for (let network = 0; network < 100; network++) {
      world.sendFrom(`2001:db8:2:${network.toString(16)}::1`);
      statuses.add((await start()).status);
    }
    expect(statuses).toContain(429);
  });

  test("do not count if they are device codes that a user has answered", async () => {
    await pool().query("DELETE FROM oauth_artifact WHERE model = 'DeviceCode'");
    const at = await prepare(world, { isDeviceFlowAllowed: true });
    expect((await asApp(world, at.app, "/oauth/device", { scope: "openid" })).status).toBe(200);
    await copyNewest("DeviceCode", 9);
    await pool().query(
      `UPDATE oauth_artifact SET account_id = $1 WHERE model = 'DeviceCode' AND created_at >=
         (SELECT created_at FROM oauth_artifact WHERE model = 'DeviceCode' ORDER BY created_at DESC OFFSET 5 LIMIT 1)`,
      [at.person.id],
    );
    await dropOldest("DeviceCode", { ...STORED_LIMITS.DeviceCode, inAll: 5 });
    expect(await countOf("DeviceCode")).toBe(10);
    await dropOldest("DeviceCode", { ...STORED_LIMITS.DeviceCode, inAll: 3 });
    expect([await countOf("DeviceCode", "account_id IS NULL"), await countOf("DeviceCode")]).toEqual([3, 9]);
  });
});
