import type { WebhookPayload } from "./webhook-payload.ts";

/**
 * Why a request is not taken for a delivery. `not_signed`: it brings neither a signature nor a secret (answer 401); the others, but for
 * `malformed_payload` (400), are wrong ones (403).
 */
export type WebhookVerificationCode =
  | "not_signed"
  | "wrong_secret"
  | "wrong_signature"
  | "malformed_signature"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "malformed_payload";

export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Those of the Fetch API, or of Node. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

export type SignedWebhook = {
  /** As it arrived, byte for byte: JSON that was parsed and written again has another signature. */
  body: Uint8Array | string;
  headers: HeadersLike;
  /** The webhook's secret; several while one replaces the other. */
  secret: string | readonly string[];
  /** How far the clock of the sender may be from ours, either way: so long can a request be played again. */
  toleranceSeconds?: number | undefined;
};

const TOLERANCE_SECONDS = 5 * 60;
const encoder = new TextEncoder();

/**
 * Checks that a request is a delivery of ours and gives its payload. Whatever signs as Standard Webhooks has it passes; a request with
 * `X-Webhook-Secret` alone, as older senders have it, passes by the secret, and then nothing says when it was sent.
 *
 * A kind of event that this version does not know is let through: treat it as an `update` of the scope before its dot.
 * @throws WebhookVerificationError
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function verifyWebhook(request: SignedWebhook): Promise<WebhookPayload> {
  await verifyWebhookSignature(request);
  return parseWebhookPayload(request.body);
}

/** The same without a look at the payload: of requests that are passed on, or whose JSON is read elsewhere. */
export async function verifyWebhookSignature({
  body,
  headers,
  secret,
  toleranceSeconds = TOLERANCE_SECONDS,
}: SignedWebhook): Promise<void> {
  const secrets = [secret].flat() as string[];
  if (secrets.length === 0 || secrets.some((one) => typeof one !== "string" || one === "")) {
    throw new TypeError("verifyWebhook: give the webhook's secret; an empty one would let everybody in");
  }
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  const sentSecret = headerOf(headers, "x-webhook-secret");
  if (signatures !== undefined) {
    if (id === undefined || timestamp === undefined) {
      throw new WebhookVerificationError(
        "malformed_signature",
        "webhook-signature comes without webhook-id or webhook-timestamp.",
      );
    }
    // Whether it is ours is settled first: how far a clock is off is nobody else's to learn.
    if (!(await isSignedByAny(secrets, `${id}.${timestamp}.`, body, signatures))) {
      throw new WebhookVerificationError(
        "wrong_signature",
        "The webhook's signature does not match. Check the secret, and that the body is as it arrived.",
      );
    }
    return assertFresh(timestamp, toleranceSeconds);
  }
  if (sentSecret === undefined) {
    throw new WebhookVerificationError("not_signed", "The request has neither webhook-signature nor x-webhook-secret.");
  }
  if (!(await isAnyOf(secrets, sentSecret))) throw new WebhookVerificationError("wrong_secret", "The webhook's secret is wrong.");
}

/** @throws WebhookVerificationError `malformed_payload` */
export function parseWebhookPayload(body: Uint8Array | string): WebhookPayload {
  let payload: unknown;
  try {
    payload = JSON.parse(typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw new WebhookVerificationError("malformed_payload", "The webhook's body is not JSON.", { cause });
  }
  const { event } = (payload ?? {}) as { event?: { scope?: unknown; action?: unknown } };
  if (typeof event?.scope !== "string" || typeof event.action !== "string") {
    throw new WebhookVerificationError(
      "malformed_payload",
      "The webhook's body says no event: event.scope and event.action are missing.",
    );
  }
  return payload as WebhookPayload;
}

/** What a request is signed with, for tests of a receiver: the headers of a delivery. */
export async function signWebhook({
  id,
  body,
  secret,
  timestamp = Math.floor(Date.now() / 1000),
}: {
  id: string;
  body: Uint8Array | string;
  secret: string;
  /** In seconds. */
  timestamp?: number;
}): Promise<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature" | "x-webhook-secret", string>> {
  const key = await hmacKey(keyOf(secret), "sign");
  const signature = await crypto.subtle.sign("HMAC", key, signedBytes(`${id}.${timestamp}.`, body));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
    "x-webhook-secret": secret,
  };
}

function assertFresh(timestamp: string, toleranceSeconds: number): void {
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (Number.isNaN(at))
    throw new WebhookVerificationError("malformed_signature", "webhook-timestamp is not a number of seconds.");
  const age = Date.now() / 1000 - at;
  if (age > toleranceSeconds) {
    throw new WebhookVerificationError(
      "timestamp_too_old",
      `The delivery was sent ${Math.round(age)} s ago: it may be a copy. Check this machine's clock.`,
    );
  }
  if (age < -toleranceSeconds) {
    throw new WebhookVerificationError(
      "timestamp_in_future",
      `The delivery says that it was sent in ${Math.round(-age)} s. Check this machine's clock.`,
    );
  }
}

/** Web Crypto compares in constant time. Signatures of other versions (`v1a`) are passed over. */
async function isSignedByAny(secrets: string[], prefix: string, body: Uint8Array | string, header: string): Promise<boolean> {
  const bytes = signedBytes(prefix, body);
  const signatures = header.split(" ").flatMap((one) => {
    const decoded = one.startsWith("v1,") ? decodeBase64(one.slice(3)) : undefined;
    return decoded?.byteLength === 32 ? [decoded] : [];
  });
  // A sender has two while one secret replaces another; a hundred are somebody's try.
  for (const secret of secrets) {
    const key = await verifyingKey(secret);
    for (const signature of signatures.slice(0, 10)) {
      if (await crypto.subtle.verify("HMAC", key, signature, bytes)) return true;
    }
  }
  return false;
}

/** Both are hashed under a key that nobody knows, so that the time that comparing takes says nothing of either. */
async function isAnyOf(secrets: string[], sent: string): Promise<boolean> {
  const key = await hmacKey(crypto.getRandomValues(new Uint8Array(32)), "sign", "verify");
  const mac = await crypto.subtle.sign("HMAC", key, headerBytes(sent));
  let isFound = false;
  for (const secret of secrets) {
    const isThis = await crypto.subtle.verify("HMAC", key, mac, encoder.encode(secret));
    isFound ||= isThis;
  }
  return isFound;
}

/** Header values arrive as one character for each byte. */
function headerBytes(text: string): Uint8Array<ArrayBuffer> {
  return isLatin1(text) ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : encoder.encode(text);
}
const isLatin1 = (text: string): boolean => [...text].every((character) => character.charCodeAt(0) < 256);

/** A secret in the form of Standard Webhooks stands for the bytes that it encodes; every other is its own UTF-8 bytes. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? undefined : decodeBase64(encoded);
  return key && key.byteLength > 0 ? key : encoder.encode(secret);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.replace(/(?<!=)=+$/, "");
  // One digit alone encodes nothing.
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  try {
    return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function signedBytes(prefix: string, body: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const [head, tail] = [encoder.encode(prefix), typeof body === "string" ? encoder.encode(body) : body];
  const bytes = new Uint8Array(head.byteLength + tail.byteLength);
  bytes.set(head);
  bytes.set(tail, head.byteLength);
  return bytes;
}

/** Importing a key costs as much as verifying with it, and a receiver has the same ones each time. */
const verifyingKeys = new Map<string, Promise<CryptoKey>>();
const VERIFYING_KEYS_MAX = 32;

function verifyingKey(secret: string): Promise<CryptoKey> {
  const known = verifyingKeys.get(secret);
  if (known) return known;
  const key = hmacKey(keyOf(secret), "verify");
  verifyingKeys.set(secret, key);
  for (const oldest of verifyingKeys.keys()) {
    if (verifyingKeys.size <= VERIFYING_KEYS_MAX) break;
    verifyingKeys.delete(oldest);
  }
  return key;
}

const hmacKey = (bytes: Uint8Array<ArrayBuffer>, ...usages: KeyUsage[]): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, usages);

function headerOf(headers: HeadersLike, name: string): string | undefined {
  if ("get" in headers && typeof headers.get === "function") return headers.get(name) ?? undefined;
  const entries = Symbol.iterator in headers ? headers : Object.entries(headers);
  for (const [key, value] of entries as Iterable<[string, string | readonly string[] | undefined]>) {
    if (key.toLowerCase() === name && value !== undefined) return typeof value === "string" ? value : value.join(" ");
  }
  return undefined;
}
