import { createHmac, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { isEvent, type WebhookPayload } from "./webhook-payload.ts";
import {
  type HeadersLike,
  signWebhook,
  verifyWebhook,
  verifyWebhookSignature,
  type WebhookVerificationError,
} from "./webhook-signature.ts";

const secret = `whsec_${randomBytes(24).toString("base64")}`;
const payload = {
  event: { action: "update", scope: "repo.content" },
  repo: { type: "model", name: "ada/kité 🪁" },
  webhook: { version: 3 },
};
const body = JSON.stringify(payload);
const now = () => Math.floor(Date.now() / 1000);

function signedByLibrary(text = body, { at = new Date(), key = secret } = {}): Record<string, string> {
  return {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(key).sign("msg_1", at, text),
  };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => expect.unreachable("it was taken"),
    (thrown) => thrown as WebhookVerificationError,
  );
  expect(error).toMatchObject({ name: "WebhookVerificationError" });
  return error.code;
}

describe("a signature", () => {
  test("of the published library is accepted, and the library accepts the SDK's signature", async () => {
    expect(await verifyWebhook({ body, headers: signedByLibrary(), secret })).toEqual(payload);
    const headers = await signWebhook({ id: "msg_2", body, secret });
    expect(new Webhook(secret).verify(body, headers)).toEqual(payload);
    expect(await verifyWebhook({ body: new TextEncoder().encode(body), headers, secret })).toEqual(payload);
  });

  test.each(["plain text", "whsec_", "whsec_not base64", "whsec_abc", "whsec_abcde", "é"])(
    "is made with the bytes of the secret %j",
    async (plain) => {
      const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(plain)?.[1];
      const key = encoded === undefined ? Buffer.from(plain) : Buffer.from(encoded, "base64");
      const timestamp = String(now());
      const mac = createHmac("sha256", key).update(`id.${timestamp}.${body}`).digest("base64");
      const headers = { "webhook-id": "id", "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
      expect(await verifyWebhook({ body, headers, secret: plain })).toEqual(payload);
    },
  );

  test("is found in headers of every form", async () => {
    const headers = signedByLibrary();
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    const forms: HeadersLike[] = [
      new Headers(headers),
      upper,
      lists,
      Object.entries(headers),
      new Map(Object.entries(headers)),
      { ...headers, get: "a header named get" },
    ];
    for (const form of forms) await verifyWebhookSignature({ body, headers: form, secret });
  });

  test("is valid only for the sent bytes", async () => {
    const headers = signedByLibrary();
    const spoiled: [string, Parameters<typeof verifyWebhook>[0]][] = [
      ["another body", { body: `${body} `, headers, secret }],
      ["another id", { body, headers: { ...headers, "webhook-id": "msg_2" }, secret }],
      ["another time", { body, headers: { ...headers, "webhook-timestamp": String(now() + 1) }, secret }],
      ["another secret", { body, headers, secret: "another" }],
      [
        "another version",
        { body, headers: { ...headers, "webhook-signature": headers["webhook-signature"]?.replace("v1,", "v1a,") }, secret },
      ],
      ["no signature", { body, headers: { ...headers, "webhook-signature": "" }, secret }],
      ["half of it", { body, headers: { ...headers, "webhook-signature": headers["webhook-signature"]?.slice(0, 20) }, secret }],
      ["a signature that is not base64", { body, headers: { ...headers, "webhook-signature": "v1,~~~~" }, secret }],
    ];
    for (const [what, request] of spoiled) expect(await codeOf(verifyWebhook(request)), what).toBe("wrong_signature");
    for (const name of ["webhook-id", "webhook-timestamp"]) {
      expect(await codeOf(verifyWebhook({ body, headers: { ...headers, [name]: undefined }, secret })), name).toBe(
        "malformed_signature",
      );
    }
    // A correct secret beside a wrong signature is refused, because somebody may have seen the secret or changed the body.
    const both = { ...headers, "webhook-id": "msg_2", "x-webhook-secret": secret };
    expect(await codeOf(verifyWebhook({ body, headers: both, secret }))).toBe("wrong_signature");
  });

  test("is valid for five minutes, in the past or in the future", async () => {
    const at = (seconds: number) => signedByLibrary(body, { at: new Date(Date.now() + seconds * 1000) });
    for (const seconds of [-290, 290]) await verifyWebhook({ body, headers: at(seconds), secret });
    expect(await codeOf(verifyWebhook({ body, headers: at(-310), secret }))).toBe("timestamp_too_old");
    expect(await codeOf(verifyWebhook({ body, headers: at(320), secret }))).toBe("timestamp_in_future");
    await verifyWebhook({ body, headers: at(-310), secret, toleranceSeconds: 600 });
    const odd = await signWebhook({ id: "x", body, secret, timestamp: "1e3" as never });
    expect(await codeOf(verifyWebhook({ body, headers: odd, secret }))).toBe("malformed_signature");
  });

  test("made with either secret is accepted while one secret replaces the other", async () => {
    const next = `whsec_${randomBytes(24).toString("base64")}`;
    const [first, second] = [signedByLibrary(), signedByLibrary(body, { key: next })];
    const both = { ...first, "webhook-signature": `v1a,zzz ${second["webhook-signature"]} ${first["webhook-signature"]}` };
    for (const known of [secret, next, [secret, next], ["another", secret]])
      await verifyWebhook({ body, headers: both, secret: known });
    await verifyWebhook({ body, headers: second, secret: [secret, next] });
  });
});

describe("the secret", () => {
  test("is accepted in an unsigned delivery only if it is correct", async () => {
    for (const known of ["a long secret", ["other", "a long secret"]]) {
      expect(await verifyWebhook({ body, headers: { "X-Webhook-Secret": "a long secret" }, secret: known })).toEqual(payload);
    }
    for (const sent of ["a long secre", "a long secrets", "A long secret", " ", "é", "日本"]) {
      expect(await codeOf(verifyWebhook({ body, headers: { "x-webhook-secret": sent }, secret: "a long secret" })), sent).toBe(
        "wrong_secret",
      );
    }
    expect(await codeOf(verifyWebhook({ body, headers: {}, secret }))).toBe("not_signed");
  });

  test("is required for verification", async () => {
    for (const none of ["", [], ["a", ""], undefined as never]) {
      await expect(verifyWebhook({ body, headers: signedByLibrary(), secret: none })).rejects.toThrow(TypeError);
    }
  });
});

test.each([
  ["no JSON", "x"],
  ["nothing", ""],
  ["null", "null"],
  ["no event", "{}"],
  ["an event without a kind", '{"event":{}}'],
])("%s is not a payload, even with a valid signature", async (_what, text) => {
  const headers = await signWebhook({ id: "x", body: text, secret });
  expect(await codeOf(verifyWebhook({ body: text, headers, secret }))).toBe("malformed_payload");
  const bytes = new Uint8Array([0x7b, 0xff, 0x7d]);
  const signed = await signWebhook({ id: "x", body: bytes, secret });
  expect(await codeOf(verifyWebhook({ body: bytes, headers: signed, secret }))).toBe("malformed_payload");
});

test("kinds of events can be distinguished by scope alone, or by scope and action", () => {
  const move = { event: { action: "move", scope: "repo" }, repo: {}, movedTo: { name: "ada/kite" } } as unknown as WebhookPayload;
  expect(isEvent(move, "repo") && isEvent(move, "repo", "move") && move.movedTo.name).toBe("ada/kite");
  expect([isEvent(move, "repo", "create"), isEvent(move, "repo.content"), isEvent(move, "repo.content", "update")]).toEqual([
    false,
    false,
    false,
  ]);
  const push = payload as unknown as WebhookPayload;
  // Compiles only if events of this kind have the field.
  expect(isEvent(push, "repo.content") && push.updatedRefs === undefined && push.webhook.version).toBe(3);
});

test("an unknown kind of event is accepted", async () => {
  const text = JSON.stringify({ event: { scope: "repo.content.lfs", action: "update" }, more: 1 });
  expect(await verifyWebhook({ body: text, headers: await signWebhook({ id: "x", body: text, secret }), secret })).toEqual(
    JSON.parse(text),
  );
});
