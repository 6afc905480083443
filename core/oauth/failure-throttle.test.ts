import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "#core/ids.ts";
import {
  countFailure,
  ENTRIES_MAX,
  FAILURES_OF_ADDRESS,
  FAILURES_OF_CLIENT,
  FAILURES_OF_CUSTOMER,
  guardAgainstGuessing,
} from "./failure-throttle.ts";
import { asApp, authorize, prepare, redemption, refresh, signIn } from "./testing/sign-in.ts";
import { startWorld } from "./testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const CLIENT_ENDPOINTS = ["/oauth/token", "/oauth/introspect", "/oauth/revoke"];
const form = { grant_type: "refresh_token", refresh_token: "kh_refresh_guess", token: "kh_oauth_guess" };

async function guess(clientId: string, times: number, path = "/oauth/token"): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 30) {
    const batch = Array.from({ length: Math.min(30, times - sent) }, (_, at) =>
      world.post(path, form, { authorization: world.basic(clientId, `guess-${sent + at}`) }),
    );
    for (const response of await Promise.all(batch)) statuses.push(response.status);
  }
  return statuses;
}

describe("S56 guessing", () => {
  test.each(CLIENT_ENDPOINTS)("of a client's secret at %s ends in 429 with Retry-After", async (path) => {
    world.sendFrom(`192.0.2.1 ${path}`);
    const { app } = await prepare(world, { isConfidential: true });
    expect(new Set(await guess(app.clientId, FAILURES_OF_CLIENT, path))).toEqual(new Set([401]));

    const refused = await world.post(path, form, { authorization: world.basic(app.clientId, "one more") });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(refused.headers.get("cache-control")).toBe("no-store");
    expect(await refused.json()).toMatchObject({ error: "temporarily_unavailable" });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  test("ends in a refusal of the right secret too, so no guess can be checked", async () => {
    world.sendFrom("192.0.2.2");
    const at = await prepare(world, { isConfidential: true });
    await guess(at.app.clientId, FAILURES_OF_CLIENT);
    expect((await asApp(world, at.app, "/oauth/token", form)).status).toBe(429);
  });

  test("affects neither another client at the address nor the client at another address", async () => {
    world.sendFrom("192.0.2.3");
    const [at, other] = [await prepare(world, { isConfidential: true }), await prepare(world, { isConfidential: true })];
    await guess(at.app.clientId, FAILURES_OF_CLIENT + 1);
    expect((await asApp(world, other.app, "/oauth/token", redemption(await authorize(other)))).status).toBe(200);
    world.sendFrom("192.0.2.4");
    expect((await asApp(world, at.app, "/oauth/token", redemption(await authorize(at)))).status).toBe(200);
  });

  test("by Basic and in the body counts together", async () => {
    world.sendFrom("192.0.2.5");
    const { app } = await prepare(world, { isConfidential: true });
    await guess(app.clientId, FAILURES_OF_CLIENT);
    const inBody = await world.post("/oauth/token", { ...form, client_id: app.clientId, client_secret: "guess" });
    expect(inBody.status).toBe(429);
  });

  test("of a public client's refresh token counts too", async () => {
    world.sendFrom("192.0.2.6");
    const { app } = await prepare(world);
    const statuses = await Promise.all(
      Array.from({ length: FAILURES_OF_CLIENT }, () => asApp(world, app, "/oauth/token", form).then(({ status }) => status)),
    );
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect((await asApp(world, app, "/oauth/token", form)).status).toBe(429);
  });

  test("with another client each time ends at the limit of the address", async () => {
    world.sendFrom("192.0.2.7");
    const statuses: number[] = [];
    while (statuses.length < FAILURES_OF_ADDRESS) {
      const batch = await Promise.all(Array.from({ length: 50 }, () => guess(newId(), 1)));
      statuses.push(...batch.flat());
    }
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await guess(newId(), 1)).toEqual([429]);
  });
});

test("S56 failures with made-up clients do not stop a client that got tokens at the address before", async () => {
  world.sendFrom("192.0.2.10");
  const [at, other] = [await signIn(world, { isRefreshAllowed: true }), await prepare(world, { isConfidential: true })];
  for (let sent = 0; sent < FAILURES_OF_ADDRESS; sent += 50)
    await Promise.all(Array.from({ length: 50 }, () => guess(newId(), 1)));
  expect(await guess(newId(), 1)).toEqual([429]);
  expect(await guess(other.app.clientId, 1)).toEqual([429]);
  expect((await refresh(at, at.tokens.refresh_token)).status).toBe(200);
  expect(new Set(await guess(at.app.clientId, FAILURES_OF_CLIENT))).toEqual(new Set([401]));
  expect(await guess(at.app.clientId, 1)).toEqual([429]);
});

describe("S56 an address", () => {
  test("of IPv6 counts by its /64", async () => {
    const { app } = await prepare(world, { isConfidential: true });
    world.sendFrom("2001:db8:64:1::1");
    await guess(app.clientId, FAILURES_OF_CLIENT);
    world.sendFrom("2001:db8:64:1::2");
    expect(await guess(app.clientId, 1)).toEqual([429]);
    world.sendFrom("2001:db8:64:2::1");
    expect(await guess(app.clientId, 1)).toEqual([401]);
  });

  function fail(address: string, clientId = newId()): void {
    const res = new ServerResponse(new IncomingMessage(new Socket()));
    guardAgainstGuessing(res, address, clientId);
    countFailure(res);
  }
  const networkOf = (customer: string, n: number) => `2001:db8:${customer}:${(n % 65_536).toString(16)}::1`;

  test("of IPv6 also counts by its /48, with ten times the limit", () => {
    for (let n = 0; n < FAILURES_OF_CUSTOMER; n++) fail(networkOf("48", n));
    expect(() => fail(networkOf("48", 60_000))).toThrow("too many failed requests");
    fail(networkOf("49", 0));
  });

  test("keeps its count in a flood unless it is among the oldest", () => {
    const flood = (from: number, to: number) => {
      for (let n = from; n < to; n++) fail(`10.${n >> 16}.${(n >> 8) % 256}.${n % 256}`);
    };
    flood(0, 50);
    for (let n = 0; n < FAILURES_OF_CLIENT; n++) fail("192.0.2.60", "the client");
    flood(50, ENTRIES_MAX / 2);
    expect(() => fail("192.0.2.60", "the client")).toThrow("too many failed requests");
  });
});

test("S56 successful requests never count", async () => {
  world.sendFrom("192.0.2.8");
  const at = await signIn(world, { isRefreshAllowed: true });
  let token = at.tokens.refresh_token;
  for (let round = 0; round < FAILURES_OF_CLIENT + 5; round++) {
    const { status, body } = await refresh(at, token);
    expect(status).toBe(200);
    token = body.refresh_token;
  }
});

test.each([true, false])(
  "S56 made-up codes at a site's callback do not stop its sign-ins (confidential: %s)",
  async (isConfidential) => {
    world.sendFrom(`192.0.2.9 ${isConfidential}`);
    const at = await signIn(world, { isConfidential, isRefreshAllowed: true });
    const user = await authorize(at);
    const redeem = (code: { code: string; verifier: string }) => asApp(world, at.app, "/oauth/token", redemption(code));
    const junk = Array.from({ length: FAILURES_OF_CLIENT }, () => redeem({ code: newId(), verifier: user.verifier }));
    expect(new Set((await Promise.all(junk)).map(({ status }) => status))).toEqual(new Set([400]));
    expect((await redeem(user)).status).toBe(200);
    expect((await refresh(at, at.tokens.refresh_token)).status).toBe(200);
  },
);
