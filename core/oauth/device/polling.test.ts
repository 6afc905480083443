import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { idHash } from "../artifacts/artifact-store.ts";
import { FAILURES_OF_CLIENT } from "../failure-throttle.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import {
  allowDevice,
  type DeviceAuthorization,
  expireDevice,
  poll,
  prepareDevice,
  startDevice,
  waitForInterval,
} from "../testing/device.ts";
import { type Prepared, refresh } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { denyDevice } from "./answer-device.ts";
import { TOO_FAST_POLLS } from "./poll-device-code.ts";

let at: Prepared;
let started: DeviceAuthorization;
let addresses = 0;

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  world.sendFrom(`198.18.1.${++addresses}`);
  at = await prepareDevice(world);
  started = await startDevice(at);
});

const errorOf = async (device = at, code = started) => (await poll(device, code.device_code)).body.error;
const wait = (seconds: number) => waitForInterval(started, seconds);

describe.each([
  { isConfidential: false, who: "a public app" },
  { isConfidential: true, who: "an app with a secret" },
])("S60 while nobody has decided, $who:", ({ isConfidential }) => {
  beforeEach(async () => {
    at = await prepareDevice(world, { isConfidential });
    started = await startDevice(at);
  });

  test("a poll gets 400 authorization_pending", async () => {
    expect(await poll(at, started.device_code)).toEqual({
      status: 400,
      body: { error: "authorization_pending", error_description: expect.stringContaining("still pending") },
    });
    await wait(5);
    expect(await errorOf()).toBe("authorization_pending");
  });

  test("a poll within the interval gets 400 slow_down, and makes the interval five seconds longer", async () => {
    expect(await errorOf()).toBe("authorization_pending");
    await wait(4);
    expect(await poll(at, started.device_code)).toMatchObject({
      status: 400,
      body: { error: "slow_down", error_description: "polled too fast; wait 10 seconds between polls" },
    });
    await wait(9);
    expect(await errorOf()).toBe("slow_down"); // 15 from now on
    await wait(14);
    expect(await errorOf()).toBe("slow_down"); // 20 from now on
    for (const _ of [1, 2, 3]) {
      await wait(20);
      expect(await errorOf()).toBe("authorization_pending");
    }
    await wait(19);
    expect(await errorOf()).toBe("slow_down");
  });

  test("a poll that is half a second early is accepted", async () => {
    expect(await errorOf()).toBe("authorization_pending");
    await wait(4.7);
    expect(await errorOf()).toBe("authorization_pending");
    await wait(4.2);
    expect(await errorOf()).toBe("slow_down");
  });

  test("one of twenty simultaneous polls is not too early", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => errorOf()));
    expect(answers.filter((error) => error === "authorization_pending")).toHaveLength(1);
    expect(answers.filter((error) => error === "slow_down")).toHaveLength(19);
  });

  test("the pace of one device does not affect another", async () => {
    const second = await startDevice(at);
    await errorOf();
    expect(await errorOf()).toBe("slow_down");
    expect(await errorOf(at, second)).toBe("authorization_pending");
  });

  test("simultaneous polls of many devices do not affect each other", async () => {
    const codes = await Promise.all(Array.from({ length: 40 }, () => startDevice(at)));
    const [denied, approved] = codes as [DeviceAuthorization, DeviceAuthorization];
    await denyDevice(at.session, denied.user_code, noOrigin);
    await allowDevice(at.session, approved.user_code);
    const outcomes = () => Promise.all(codes.map(async (code) => (await poll(at, code.device_code)).body.error ?? "a token"));
    const waiting = codes.length - 2;
    expect(await outcomes()).toEqual(["access_denied", "a token", ...Array(waiting).fill("authorization_pending")]);
    expect(await outcomes()).toEqual(["access_denied", "invalid_grant", ...Array(waiting).fill("slow_down")]);
  });

  test("a poll costs one statement", async () => {
    await errorOf(); // reads the client into memory
    const statements = await statementsOf(() => errorOf());
    expect(statements).toHaveLength(1);
    expect(statements[0]).toContain("oauth_device_poll");
  });

  test("waiting never leads to 429", { timeout: 30_000 }, async () => {
    for (let polls = 0; polls < FAILURES_OF_CLIENT + 5; polls++) {
      await wait(5);
      expect(await errorOf()).toBe("authorization_pending");
    }
    const codes = await Promise.all(Array.from({ length: FAILURES_OF_CLIENT }, () => startDevice(at)));
    for (const code of codes) {
      await errorOf(at, code);
      expect(await errorOf(at, code)).toBe("slow_down");
    }
  });
});

describe("S61", () => {
  test("the first poll is never too fast", async () => {
    for (const _ of [1, 2, 3]) expect(await errorOf(at, await startDevice(at))).toBe("authorization_pending");
  });

  test("an approval is delivered to a device that polls too fast", async () => {
    for (const _ of [1, 2, 3]) await errorOf();
    await allowDevice(at.session, started.user_code);
    expect((await poll(at, started.device_code)).status).toBe(200);
  });

  test("a denial is delivered to a device that polls too fast", async () => {
    for (const _ of [1, 2, 3]) await errorOf();
    await denyDevice(at.session, started.user_code, noOrigin);
    expect(await errorOf()).toBe("access_denied");
  });

  test("the expiry is delivered to a device that polls too fast", async () => {
    for (const _ of [1, 2, 3]) await errorOf();
    await expireDevice(started);
    expect(await errorOf()).toBe("expired_token");
  });
});

describe("a device that polls in a loop", () => {
  test("costs the database one statement a second, and still gets its answer", { timeout: 30_000 }, async () => {
    for (let polls = 0; polls <= TOO_FAST_POLLS; polls++) await errorOf();
    const errors: (string | undefined)[] = [];
    const statements = await statementsOf(async () => {
      for (let polls = 0; polls < 200; polls++) errors.push(await errorOf());
    });
    expect(new Set(errors)).toEqual(new Set(["slow_down"]));
    expect(statements.length).toBeLessThan(10);
    await allowDevice(at.session, started.user_code);
    await expect.poll(async () => (await poll(at, started.device_code)).status).toBe(200);
  });

  test("does not slow down another device", async () => {
    for (let polls = 0; polls <= TOO_FAST_POLLS + 5; polls++) await errorOf();
    expect(await errorOf(at, await startDevice(at))).toBe("authorization_pending");
  });
});

describe("S62", () => {
  test("every poll of a denied code gets 400 access_denied", async () => {
    await denyDevice(at.session, started.user_code, noOrigin);
    for (const _ of [1, 2, 3]) {
      expect(await poll(at, started.device_code)).toEqual({
        status: 400,
        body: { error: "access_denied", error_description: "Device code denied" },
      });
    }
  });

  test("a poll of an expired code gets 400 expired_token, even if the user approved the code", async () => {
    await expireDevice(started);
    expect(await poll(at, started.device_code)).toMatchObject({ status: 400, body: { error: "expired_token" } });
    const approved = await startDevice(at);
    await allowDevice(at.session, approved.user_code);
    await expireDevice(approved);
    expect(await errorOf(at, approved)).toBe("expired_token");
    const never = new AbortController().signal;
    await sweep(never);
    expect(await errorOf()).toBe("expired_token");
    await pool().query("UPDATE oauth_artifact SET expires_at = now() - interval '61 minutes' WHERE id_hash = $1", [
      idHash(started.device_code),
    ]);
    expect(await sweep(never)).toMatchObject({ oauth_artifact: 1 });
    expect(await errorOf()).toBe("invalid_grant");
  });

  test("a second redemption ends the tokens of the first (S43)", async () => {
    await allowDevice(at.session, started.user_code);
    const { body } = await poll(at, started.device_code);
    expect((await world.userinfo(body.access_token)).status).toBe(200);
    expect(await errorOf()).toBe("invalid_grant");
    expect((await world.userinfo(body.access_token)).status).toBe(401);
    expect((await refresh(at, body.refresh_token)).body.error).toBe("invalid_grant");
  });

  test("fifty polls at the same moment get one token", async () => {
    await allowDevice(at.session, started.user_code);
    const polls = await Promise.all(Array.from({ length: 50 }, () => poll(at, started.device_code)));
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(polls.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(49);
    const { rows } = await pool().query("SELECT 1 FROM oauth_artifact WHERE client_id = $1 AND model = 'AccessToken'", [
      at.app.clientId,
    ]);
    expect(rows).toHaveLength(1);
  });

  test("a poll of an unknown device code fails with invalid_grant", async () => {
    expect((await poll(at, "kh_device_unknown")).body.error).toBe("invalid_grant");
    expect((await poll(at, "nul\0")).status).toBe(400);
    expect((await poll(at, "")).body.error).toBe("invalid_request");
  });
});

describe("S63 somebody else's poll", () => {
  test("by another client fails with invalid_grant, and does not delay the device", async () => {
    const other = await prepareDevice(world);
    const stranger = { ...other, app: other.app };
    expect(await errorOf(stranger)).toBe("invalid_grant");
    expect(await errorOf()).toBe("authorization_pending");
    expect(await errorOf(stranger)).toBe("invalid_grant");
    const denied = await startDevice(at);
    await denyDevice(at.session, denied.user_code, noOrigin);
    expect(await errorOf(stranger, denied)).toBe("invalid_grant");
    await allowDevice(at.session, started.user_code);
    expect(await errorOf(stranger)).toBe("invalid_grant");
    expect((await poll(at, started.device_code)).status).toBe(200);
  });

  test("of a confidential app without its secret fails with 401 invalid_client", async () => {
    const confidential = await prepareDevice(world, { isConfidential: true });
    const code = await startDevice(confidential);
    await allowDevice(confidential.session, code.user_code);
    const bare = await poll({ ...confidential, app: { ...confidential.app, secret: undefined } }, code.device_code);
    expect(bare).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    expect((await poll(confidential, code.device_code)).status).toBe(200);
  });
});

describe("what a device gets", () => {
  test("is an access token, a refresh token and, with openid, an ID token", async () => {
    const asked = await startDevice(at, { scope: "openid profile" });
    await allowDevice(at.session, asked.user_code);
    const { body } = await poll(at, asked.device_code);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^kh_oauth_/),
      refresh_token: expect.stringMatching(/^kh_refresh_/),
      id_token: expect.any(String),
      token_type: "bearer",
      expires_in: 28_800,
      scope: "openid profile",
    });
    const renewed = await refresh(at, body.refresh_token);
    expect(renewed).toMatchObject({ status: 200, body: { scope: "openid profile" } });
    expect(renewed.body.refresh_token).not.toBe(body.refresh_token);
  });

  test("S54 is bound to the audience that the device named", async () => {
    const asked = await startDevice(at, { scope: "openid read-repos", resource: world.origin });
    await allowDevice(at.session, asked.user_code);
    const { body } = await poll(at, asked.device_code);
    expect(body.scope).toBe("openid read-repos");
    const { payload } = (await db().oAuthArtifact.findFirstOrThrow({
      where: { model: "AccessToken", clientId: at.app.clientId },
    })) as { payload: Record<string, unknown> };
    expect(payload.aud).toBe(world.origin);
    const foreign = await world.post("/oauth/device", { client_id: at.app.clientId, resource: "https://other.example" });
    expect((await foreign.json()).error).toBe("invalid_target");
  });
});

test("the rows of polls are deleted after their codes have expired", async () => {
  await errorOf();
  const fresh = await startDevice(at);
  await errorOf(at, fresh);
  await wait(1801);
  expect(await sweep(new AbortController().signal)).toMatchObject({ oauth_device_poll: 1 });
  expect(await db().oAuthDevicePoll.count({ where: { idHash: idHash(fresh.device_code) } })).toBe(1);
});

async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const connections = pool();
  const query = connections.query;
  connections.query = function counted(this: typeof connections, ...args: unknown[]) {
    const [first] = args as [string | { text: string }];
    statements.push(typeof first === "string" ? first : first.text);
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await run();
  } finally {
    connections.query = query;
  }
  return statements;
}

test("the grant type is the one of RFC 8628", () => {
  expect(DEVICE_CODE_GRANT).toBe("urn:ietf:params:oauth:grant-type:device_code");
});
