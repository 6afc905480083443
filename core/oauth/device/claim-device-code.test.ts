import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { throttleCount, throttleKey } from "#core/accounts/throttle.ts";
import { pool } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { type DeviceAuthorization, prepareDevice, startDevice } from "../testing/device.ts";
import type { Prepared } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { openDeviceRequest } from "./answer-device.ts";
import {
  FEW_CODES_OF_ACCOUNT,
  FEW_CODES_OF_ADDRESS,
  MANY_WRONG_CODES,
  WRONG_CODES_OF_ACCOUNT,
  WRONG_CODES_OF_ADDRESS,
} from "./claim-device-code.ts";
import { newUserCode } from "./user-code.ts";

let at: Prepared;
let started: DeviceAuthorization;

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  await pool().query("DELETE FROM throttle");
  at = await prepareDevice(world);
  started = await startDevice(at);
});

let addresses = 0;
const address = () => `198.18.${(addresses >> 8) & 255}.${addresses++ & 255}`;
const from = (ip: string | null) => ({ ip, userAgent: "a guesser" });
const anybody = () => ({ ...at.session, user: { ...at.session.user, id: newId() } }) as SiteSession;

async function guess(session: SiteSession, ip: string | null): Promise<string> {
  const error = await openDeviceRequest(session, newUserCode(), from(ip)).catch((thrown: unknown) => thrown);
  return isServiceError(error) ? error.code : "found";
}

async function guesses(count: number, next: () => Promise<string>): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const outcome = await next();
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 10 }, lane));
  return outcomes;
}

test("S59 after ten wrong codes, an account cannot use the right code either", async () => {
  expect(await guesses(100, () => guess(at.session, address()))).toEqual({
    not_found: WRONG_CODES_OF_ACCOUNT.limit,
    rate_limited: 100 - WRONG_CODES_OF_ACCOUNT.limit,
  });
  await expect(openDeviceRequest(at.session, started.user_code, from(address()))).rejects.toMatchObject({
    code: "rate_limited",
    field: "user_code",
    retryAfterSeconds: expect.any(Number),
    message: expect.stringMatching(/^Too many codes were entered\. Try again in \d+ minutes\.$/),
  });
});

test("S59 one address may enter fifty wrong codes, with any accounts", async () => {
  expect(await guesses(200, () => guess(anybody(), "203.0.113.5"))).toEqual({
    not_found: WRONG_CODES_OF_ADDRESS.limit,
    rate_limited: 200 - WRONG_CODES_OF_ADDRESS.limit,
  });
  expect(await guess(anybody(), address())).toBe("not_found");
});

test("S59 one /48 may enter five hundred wrong codes", async () => {
  let network = 0;
  const next = () => guess(anybody(), `2001:db8:99:${(network++).toString(16)}::1`);
  expect(await next()).toBe("not_found");
  const ofCustomer = throttleKey("user-code-address", "2001:db8:99::/48");
  await pool().query("UPDATE throttle SET count = $1 WHERE key = $2", [10 * WRONG_CODES_OF_ADDRESS.limit, ofCustomer]);
  expect(await guess(at.session, "2001:db8:99:ffff::1")).toBe("rate_limited");
  expect(await throttleCount(throttleKey("user-code-account", at.session.user.id))).toBe(0);
  expect(await guess(anybody(), "2001:db8:98::1")).toBe("not_found");
});

describe("S59 while thousands of wrong codes arrive from everywhere", () => {
  beforeEach(async () => {
    const next = () => guess(anybody(), address());
    // Each guess takes milliseconds, so all but the last ten are only inserted as a count.
    await next();
    await pool().query("UPDATE throttle SET count = $1 WHERE key = $2", [
      MANY_WRONG_CODES.limit - 10,
      throttleKey("user-code", "all"),
    ]);
    expect(await guesses(10, next)).toEqual({ not_found: 10 });
  });

  test("S58 a user with the right code can use the device flow", async () => {
    expect(await guesses(100, () => guess(anybody(), address()))).toEqual({ not_found: 100 });
    expect((await openDeviceRequest(at.session, started.user_code, from(address()))).userCode).toBe(started.user_code);
  });

  test("an account has three attempts, and a network five", async () => {
    expect(await guesses(20, () => guess(at.session, address()))).toEqual({
      not_found: FEW_CODES_OF_ACCOUNT.limit,
      rate_limited: 17,
    });
    let host = 0;
    const network = () => `2001:db8:77:1::${(host++).toString(16)}`;
    expect(await guesses(30, () => guess(anybody(), network()))).toEqual({
      not_found: FEW_CODES_OF_ADDRESS.limit,
      rate_limited: 25,
    });
    await pool().query("UPDATE throttle SET reset_at = now()");
    expect(await guesses(20, () => guess(at.session, address()))).toEqual({
      not_found: WRONG_CODES_OF_ACCOUNT.limit,
      rate_limited: 10,
    });
  });
});

test("S59 right codes do not count, even if they are opened often", async () => {
  for (let time = 0; time < WRONG_CODES_OF_ACCOUNT.limit + 2; time++) {
    await openDeviceRequest(at.session, (await startDevice(at)).user_code, from("203.0.113.6"));
    await openDeviceRequest(at.session, started.user_code, from("203.0.113.6"));
  }
  const { rows } = await pool().query("SELECT 1 FROM throttle WHERE key LIKE 'user-code%' AND count > 0");
  expect(rows).toEqual([]);
});

test("S59 wrong codes do not lock a user out of an open request", async () => {
  await openDeviceRequest(at.session, started.user_code, from(null));
  await guesses(20, () => guess(at.session, null));
  expect((await openDeviceRequest(at.session, started.user_code, from(null))).userCode).toBe(started.user_code);
});
