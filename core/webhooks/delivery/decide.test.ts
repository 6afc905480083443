import { describe, expect, it } from "vitest";
import { decide, RETRY_AFTER_MAX, retryAfterSeconds, retryDelay } from "./decide.ts";
import type { Answer, Attempt, ClaimedDelivery } from "./delivery.ts";
import { keyOf } from "./delivery-headers.ts";

const HOUR = 3_600;
// Written out, so that the test does not repeat the code.
const FIVE_DAYS_MS = 5 * 24 * HOUR * 1_000;
const startedAt = new Date("2026-11-22T12:00:00Z");

function delivery(more: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  const webhook = { url: "https://a.example.test/", secret: null, previousSecret: null };
  return {
    ...{ id: "d", claimId: "c", webhookId: "w", ownerId: "o", kind: "first", lane: 1, host: "a:443", tries: 0, replayId: null },
    webhook: { ...webhook, isDisabled: false, disabledReason: null, failingSince: null },
    event: { id: "e", payload: "{}", isTest: false, traceparent: null },
    mayRead: true,
    lease: null,
    ...more,
  };
}

function attempt(status: number | null, headers: Record<string, string> = {}, more: Partial<Attempt> = {}): Attempt {
  const timings = { dnsMs: 0, connectMs: 0, tlsMs: null, firstByteMs: 1, totalMs: 1 };
  const answer: Answer | null =
    status === null ? null : { status, headers, body: new Uint8Array(), isCut: false, isReused: false, timings };
  const outcome = status === null ? "unreachable" : status >= 200 && status < 300 ? "delivered" : "rejected";
  const rest = {
    reason: null,
    url: null,
    signature: null,
    totalMs: 1,
    jobRunId: null,
    isStale: false,
    isKept: false,
    isFinal: false,
  };
  return { startedAt, outcome, answer, ...rest, ...more };
}

const waitAfter = (tries: number, made: Attempt, random = () => 0) => decide(delivery({ tries }), made, random).again?.seconds;

describe("S125 what follows from an attempt", () => {
  it("the schedule has nine retries in under 48 hours, and jitter only delays", () => {
    const planned = [5, 30, 180, 900, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];
    expect(planned.map((_, tries) => waitAfter(tries, attempt(500)))).toEqual(planned);
    const latest = planned.map((_, tries) => Number(waitAfter(tries, attempt(null), () => 0.999_999)));
    for (const [index, seconds] of latest.entries()) expect(seconds).toBeGreaterThan(planned[index] ?? Number.NaN);
    expect(latest.reduce((sum, seconds) => sum + seconds)).toBeLessThan(48 * HOUR);
    expect(decide(delivery({ tries: 9 }), attempt(500))).toMatchObject({ state: "failed", again: null, disables: null });
  });

  it("2xx is a success, 410 is final, and any other or no response leads to a retry", () => {
    for (const status of [200, 201, 204, 299]) expect(decide(delivery(), attempt(status)).state).toBe("delivered");
    for (const status of [301, 302, 304, 400, 401, 404, 408, 429, 500, 503, null])
      expect(decide(delivery(), attempt(status))).toMatchObject({ state: "waiting", again: { tries: 1 }, health: "fails" });
    expect(decide(delivery(), attempt(null, {}, { outcome: "blocked" }))).toMatchObject({ state: "waiting", health: "fails" });
    expect(decide(delivery(), attempt(410))).toMatchObject({ state: "failed", again: null, disables: "gone" });
    expect(decide(delivery(), attempt(null, {}, { outcome: "withheld" }))).toMatchObject({ state: "withheld", health: null });
    expect(decide(delivery(), attempt(null, {}, { outcome: "rejected", isFinal: true })).state).toBe("failed");
  });

  it("Retry-After of 429 and 503 is respected, but never earlier than the schedule or later than a day", () => {
    for (const status of [429, 503]) {
      expect(waitAfter(0, attempt(status, { "retry-after": "120" }))).toBe(120);
      expect(waitAfter(0, attempt(status, { "retry-after": "Sun, 22 Nov 2026 12:10:00 GMT" }))).toBe(600);
      expect(waitAfter(0, attempt(status, { "retry-after": "1" }))).toBe(5);
      expect(waitAfter(0, attempt(status, { "retry-after": "99999999999999999999" }))).toBe(24 * HOUR);
      expect(waitAfter(0, attempt(status, { "retry-after": "Sun, 22 Nov 2099 12:00:00 GMT" }))).toBe(24 * HOUR);
    }
    expect(waitAfter(0, attempt(500, { "retry-after": "120" }))).toBe(5);
    expect(waitAfter(8, attempt(503, { "retry-after": "1" }))).toBe(24 * HOUR);
    for (const bad of ["", "soon", "-5", "1.5", "Sunday, 99-Nov-94", "\u0660"])
      expect(retryAfterSeconds(bad, startedAt.getTime()), bad).toBe(0);
    expect(retryAfterSeconds("2")).toBe(2);
    expect(retryAfterSeconds("Sun, 22 Nov 2026 11:00:00 GMT", startedAt.getTime())).toBe(0);
    expect(retryDelay(1, Number.POSITIVE_INFINITY, () => 0)).toBe(RETRY_AFTER_MAX);
  });

  it("an attempt that fails on a reused connection is repeated at once, and the schedule begins if that fails too", () => {
    const stale = attempt(null, {}, { isStale: true });
    expect(decide(delivery(), stale)).toMatchObject({ state: "waiting", health: null, again: { seconds: 0, tries: 0 } });
    expect(decide(delivery({ kind: "retry" }), stale, () => 0)).toMatchObject({
      health: "fails",
      again: { seconds: 5, tries: 1 },
    });
  });

  it("S126 five days without a success disable the webhook and hold its deliveries", () => {
    const failing = (since: number, more = {}) => {
      const { webhook, ...rest } = delivery();
      return { ...rest, webhook: webhook && { ...webhook, failingSince: new Date(startedAt.getTime() - since), ...more } };
    };
    expect(decide(failing(FIVE_DAYS_MS - 1), attempt(500)).disables).toBeNull();
    expect(decide(failing(FIVE_DAYS_MS), attempt(500))).toMatchObject({ disables: "failing", again: { seconds: "held" } });
    expect(decide(failing(FIVE_DAYS_MS), attempt(200))).toMatchObject({ disables: null, isRecovery: false });
    expect(decide(failing(0, { disabledReason: "gone" }), attempt(200)).isRecovery).toBe(true);
    expect(decide(failing(0, { disabledReason: "owner" }), attempt(200)).isRecovery).toBe(false);
  });
});

it("S123 a secret of Standard Webhooks is decoded to the key, and any other text is the key", () => {
  expect(keyOf("whsec_AQID")).toEqual(Buffer.from([1, 2, 3]));
  for (const text of ["whsec_", "whsec_not base64!", "hunter2", "whsec_="]) expect(keyOf(text)).toEqual(Buffer.from(text));
});
