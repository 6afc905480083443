import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { LONG_HOST, longestParsed } from "#core/http/testing/long-host.ts";
import { newId } from "#core/ids.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { deleteSecret } from "../apps/app-secrets.ts";
import { idHash } from "../artifacts/artifact-store.ts";
import { STORED_REQUESTS_OF_ADDRESS, STORED_REQUESTS_OF_CLIENT } from "../authorization/prepare-authorization.ts";
import { allowDevice, expireDevice, poll, prepareDevice, startDevice } from "../testing/device.ts";
import { asApp, type Prepared } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { openDeviceRequest } from "./answer-device.ts";

let at: Prepared;
let addresses = 0;

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  world.sendFrom(`198.18.0.${++addresses}`);
  at = await prepareDevice(world);
});

const send = (form: Record<string, string>, headers: Record<string, string> = {}) => world.post("/oauth/device", form, headers);

describe("S57 the answer to a device", () => {
  test("has the fields of RFC 8628 and of the service's contract", async () => {
    const response = await send({ client_id: at.app.clientId });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const body = await response.json();
    expect(body).toEqual({
      device_code: expect.any(String),
      user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      verification_uri: `${world.origin}/device`,
      verification_uri_complete: `${world.origin}/device?user_code=${body.user_code}`,
      expires_in: 900,
      interval: 5,
    });
  });

  test("is the same for a request in JSON", async () => {
    const response = await world.post("/oauth/device", JSON.stringify({ client_id: at.app.clientId, scope: "openid email" }), {
      "content-type": "application/json",
    });
    expect(response.status).toBe(200);
    const { consent } = await openDeviceRequest(at.session, (await response.json()).user_code, noOrigin);
    expect(consent.scopes.map(({ scope }) => scope)).toEqual(["openid", "email"]);
  });

  test("may be read by pages of other sites, without credentials (S53)", async () => {
    const origin = "https://elsewhere.example";
    const preflight = await fetch(`${world.origin}/oauth/device`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    const response = await send({ client_id: at.app.clientId }, { origin });
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("is a redirect to /device if a browser opens the URL", async () => {
    const response = await world.browser().fetch("/oauth/device?user_code=BCDF-GHJK");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/device?user_code=BCDF-GHJK"]);
  });
});

describe("the scopes that a device asks for", () => {
  test("are those of the app if the request names none", async () => {
    const { consent } = await openDeviceRequest(at.session, (await startDevice(at)).user_code, noOrigin);
    expect(consent.scopes.map(({ scope }) => scope)).toEqual(["openid", "profile", "email", "read-repos"]);
    expect(consent.isOffline).toBe(true);
  });

  test("must exist, and the error lists them (docs/specification/oauth.md#scopes)", async () => {
    const response = await send({ client_id: at.app.clientId, scope: "openid teleport" });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: "invalid_request",
      error_description: expect.stringMatching(/unknown scope.*openid profile email read-billing.*offline_access/),
    });
  });

  test("S17 must be configured on the app, and the error lists those that are", async () => {
    const response = await send({ client_id: at.app.clientId, scope: "openid write-repos" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: "invalid_scope",
      error_description: "requested scope is not allowed; the app may request openid profile email read-repos offline_access",
    });
  });
});

describe("who may ask", () => {
  test("S66 an app without the device flow gets unauthorized_client", async () => {
    const app = await world.app(at.person);
    for (const [path, form] of [
      ["/oauth/device", {}],
      ["/oauth/token", { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "any" }],
    ] as const) {
      const response = await asApp(world, app, path, form);
      expect(response.status).toBe(400);
      const body = await response.json();
      expect(body).toMatchObject({ error: "unauthorized_client" });
      if (path === "/oauth/device") expect(body.error_description).toContain("enable it in the app's settings");
    }
  });

  test("S63 an app with a secret must send it, and the error does not reveal whether the app exists", async () => {
    const { app } = await prepareDevice(world, { isConfidential: true });
    const answers = await Promise.all(
      [
        send({ client_id: app.clientId }),
        send({ client_id: newId() }),
        send({}),
        send({}, { authorization: world.basic(app.clientId, "wrong") }),
        send({ client_id: app.clientId, client_secret: "wrong" }),
      ].map(async (request) => {
        const response = await request;
        return { status: response.status, body: await response.json() };
      }),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toEqual({
      status: 401,
      body: { error: "invalid_client", error_description: expect.stringMatching(/must send the correct secret.*delete/) },
    });
    expect((await startDevice({ world, app })).device_code).toBeTruthy();
  });

  test("an app whose secret was deleted works as a public app (docs/specification/oauth.md#oauth-apps)", async () => {
    const { app } = await prepareDevice(world, { isConfidential: true });
    await deleteSecret(operatorCommand, app.id, noOrigin);
    await expect.poll(async () => (await send({ client_id: app.clientId })).status).toBe(200);
  });
});

describe("S56 device codes are limited, with 429 and the seconds to wait", () => {
  const statusOf = async (app = at.app) => (await send({ client_id: app.clientId })).status;

  async function statuses(count: number, app = at.app): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    for (let done = 0; done < count; done += 10) {
      for (const status of await Promise.all(Array.from({ length: 10 }, () => statusOf(app)))) {
        counts[status] = (counts[status] ?? 0) + 1;
      }
    }
    return counts;
  }

  test("for one app at one address", { timeout: 60_000 }, async () => {
    const { limit } = STORED_REQUESTS_OF_CLIENT;
    expect(await statuses(limit + 20)).toEqual({ 200: limit, 429: 20 });
    const refused = await send({ client_id: at.app.clientId });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual({
      error: "temporarily_unavailable",
      error_description: expect.stringMatching(/try again in \d+ seconds/),
    });
    expect(await statusOf((await prepareDevice(world)).app)).toBe(200);
    world.sendFrom("203.0.113.77");
    expect(await statusOf()).toBe(200);
  });

  test("for all apps at one address", { timeout: 60_000 }, async () => {
    for (let done = 0; done < STORED_REQUESTS_OF_ADDRESS.limit; done += STORED_REQUESTS_OF_CLIENT.limit) {
      expect(await statuses(STORED_REQUESTS_OF_CLIENT.limit, (await prepareDevice(world)).app)).toEqual({
        200: STORED_REQUESTS_OF_CLIENT.limit,
      });
    }
    expect(await statusOf((await prepareDevice(world)).app)).toBe(429);
  });
});

describe("S67 codes", () => {
  test("a device code has at least 128 bits and a recognizable prefix, and is stored only as a hash", async () => {
    const { device_code, user_code } = await startDevice(at);
    expect(device_code).toMatch(/^kh_device_[\w-]{43}$/);
    const { rows } = await pool().query("SELECT * FROM oauth_artifact WHERE user_code = $1", [user_code.replace("-", "")]);
    expect(rows).toMatchObject([{ model: "DeviceCode", id_hash: idHash(device_code) }]);
    expect(JSON.stringify(rows)).not.toContain(device_code);
    expect(JSON.stringify(rows)).not.toContain(device_code.slice("kh_device_".length));
  });

  test("a user code that is taken is replaced by another", async () => {
    const taken = await startDevice(at);
    await collide(taken.user_code);
    const next = await startDevice(at);
    expect(next.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(next.user_code).not.toBe(taken.user_code);
    expect(next.verification_uri_complete).toContain(next.user_code);
    await allowDevice(at.session, next.user_code);
    expect((await poll(at, next.device_code)).status).toBe(200);
    expect((await poll(at, taken.device_code)).body.error).toBe("authorization_pending");
  });

  test("an expired user code can be used again before housekeeping deletes it", async () => {
    const taken = await startDevice(at);
    await expireDevice(taken);
    await collide(taken.user_code);
    await allowDevice(at.session, (await startDevice(at)).user_code);
  });

  async function collide(userCode: string): Promise<void> {
    await asOwner(`
      CREATE SEQUENCE IF NOT EXISTS collision;
      SELECT setval('collision', 1, false);
      CREATE OR REPLACE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('collision') = 1 THEN NEW.user_code := '${userCode.replace("-", "")}'; END IF;
          RETURN NEW;
        END $$;
      CREATE OR REPLACE TRIGGER collide BEFORE INSERT ON oauth_artifact FOR EACH ROW WHEN (NEW.user_code IS NOT NULL)
        EXECUTE FUNCTION collide()`);
  }
});

test("S138 a parameter with a long host name is refused before it is parsed as a URL", async () => {
  const parsed = await longestParsed(async () => {
    for (const resource of [`https://${LONG_HOST}/`, ` HTTP\t:${LONG_HOST}`, `wss:/\\x@${LONG_HOST}`]) {
      const answer = await send({ client_id: at.app.clientId, resource });
      expect(await answer.json()).toMatchObject({ error: "invalid_request" });
    }
  });
  expect(parsed).toBeLessThan(1_000);
});
