import type { WebhookPayload } from "./webhook-payload.ts";

/**
 * The reason why a request was refused. Respond with 401 to `not_signed` (neither a signature nor a secret) and with 400 to
 * `malformed_payload`. Respond with 403 to all other codes.
 * @group Webhooks that arrive
 */
export type WebhookVerificationCode =
  | "not_signed"
  | "wrong_secret"
  | "wrong_signature"
  | "malformed_signature"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "malformed_payload";

/** A request that is not a genuine delivery. `message` says why, for your log. @group Webhooks that arrive */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Headers of the Fetch API or of Node, or pairs of name and value. @group Webhooks that arrive */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

/** A request to verify. @group Webhooks that arrive */
export type SignedWebhook = {
  /** The received bytes. JSON that was parsed and serialized again has another signature. */
  body: Uint8Array | string;
  headers: HeadersLike;
  /** The webhook's secret, or several while one replaces another. */
  secret: string | readonly string[];
  /** The most by which the sender's clock and this one may differ, in seconds. Default 300. A copied request is accepted for that long. */
  toleranceSeconds?: number | undefined;
};

const TOLERANCE_SECONDS = 5 * 60;
const encoder = new TextEncoder();

/**
 * Checks that a request is a delivery from the service, and parses its payload. A signature by Standard Webhooks must be valid and recent.
 * A request of an older sender, which has only `X-Webhook-Secret`, must have the correct secret; its age is not known. Secrets and
 * signatures are compared in constant time.
 *
 * An event of a scope that this version does not know is accepted: treat it as an `update` of the scope before the last dot.
 * @param request The received body, the headers, and the webhook's secret.
 * @returns The payload. Next, {@link isEvent} tells its kind. A delivery may arrive more than once: remember its `webhook-id`.
 * @throws {@link WebhookVerificationError} `code` determines the status of your response.
 * @throws TypeError if `secret` is missing or empty, which would let everybody in.
 * @see [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md)
 * @example
 * ```ts
 * const body = new Uint8Array(await request.arrayBuffer());
 * const payload = await verifyWebhook({ body, headers: request.headers, secret: WEBHOOK_SECRET });
 * if (isEvent(payload, "repo.content")) console.log(payload.repo.name, payload.updatedRefs);
 * ```
 * @group Webhooks that arrive
 */
export async function verifyWebhook(request: SignedWebhook): Promise<WebhookPayload> {
  await verifyWebhookSignature(request);
  return parseWebhookPayload(request.body);
}

/**
 * Checks a request as {@link verifyWebhook} does, but does not parse its payload. You can then forward the request, let another
 * program parse it, or call {@link parseWebhookPayload}.
 * @param request The body as it arrived, the headers, and the webhook's secret.
 * @throws {@link WebhookVerificationError} with any code except `malformed_payload`.
 * @throws TypeError if `secret` is missing or empty.
 * @group Webhooks that arrive
 */
export async function verifyWebhookSignature({
  body,
  headers,
  secret,
  toleranceSeconds = TOLERANCE_SECONDS,
}: SignedWebhook): Promise<void> {
  const secrets = [secret].flat() as string[];
  if (secrets.length === 0 || secrets.some((one) => typeof one !== "string" || one === "")) {
    throw new TypeError("verifyWebhook: pass the webhook's secret; an empty one would accept requests from everybody");
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
    // The signature is checked before the time, because a stranger must not learn how far this clock is off.
    if (!(await isSignedByAny(secrets, `${id}.${timestamp}.`, body, signatures))) {
      throw new WebhookVerificationError(
        "wrong_signature",
        "The webhook's signature does not match. Check the secret, and make sure that the body is unchanged.",
      );
    }
    return assertFresh(timestamp, toleranceSeconds);
  }
  if (sentSecret === undefined) {
    throw new WebhookVerificationError("not_signed", "The request has neither webhook-signature nor x-webhook-secret.");
  }
  if (!(await isAnyOf(secrets, sentSecret))) throw new WebhookVerificationError("wrong_secret", "The webhook's secret is wrong.");
}

/**
 * Parses the payload of a request that was verified.
 * @param body The received body.
 * @returns The payload. Its fields are not checked, because a later version of the service may add some.
 * @throws {@link WebhookVerificationError} `malformed_payload`: the body is not JSON, or does not name an event.
 * @group Webhooks that arrive
 */
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
      "The webhook's body has no event: event.scope or event.action is missing.",
    );
  }
  return payload as WebhookPayload;
}

/**
 * Signs a body as the service does, for tests of your receiver.
 * @param delivery The `webhook-id`, the body, the secret, and the time in seconds since 1970 (default: now).
 * @returns The headers of the delivery. Next, send them with the same body to your receiver.
 * @see [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md)
 * @group Webhooks that arrive
 */
export async function signWebhook({
  id,
  body,
  secret,
  timestamp = Math.floor(Date.now() / 1000),
}: {
  /** The `webhook-id`, the same for each attempt of a delivery. */
  id: string;
  /** The bytes that are sent. */
  body: Uint8Array | string;
  /** The webhook's secret. */
  secret: string;
  /** The time of the attempt, in seconds since 1970. */
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
      `The delivery's timestamp is ${Math.round(-age)} s in the future. Check this machine's clock.`,
    );
  }
}

/** Web Crypto compares in constant time. Signatures of other versions (`v1a`) are ignored. */
async function isSignedByAny(secrets: string[], prefix: string, body: Uint8Array | string, header: string): Promise<boolean> {
  const bytes = signedBytes(prefix, body);
  const signatures = header.split(" ").flatMap((one) => {
    const decoded = one.startsWith("v1,") ? decodeBase64(one.slice(3)) : undefined;
    return decoded?.byteLength === 32 ? [decoded] : [];
  });
  // A sender sends two signatures while one secret replaces another. Hundreds would be an attempt to use up time.
  for (const secret of secrets) {
    const key = await verifyingKey(secret);
    for (const signature of signatures.slice(0, 10)) {
      if (await crypto.subtle.verify("HMAC", key, signature, bytes)) return true;
    }
  }
  return false;
}

/** Both secrets are hashed with a random key, so that the time of the comparison reveals nothing about either. */
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

/** Header values have one character for each byte. */
function headerBytes(text: string): Uint8Array<ArrayBuffer> {
  return isLatin1(text) ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : encoder.encode(text);
}
const isLatin1 = (text: string): boolean => [...text].every((character) => character.charCodeAt(0) < 256);

/** A `whsec_` secret encodes its bytes, as Standard Webhooks specifies. Any other secret is its UTF-8 bytes. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? undefined : decodeBase64(encoded);
  return key && key.byteLength > 0 ? key : encoder.encode(secret);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.replace(/(?<!=)=+$/, "");
  // A single last base64 digit encodes no byte.
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

/** Imported keys are kept, because importing a key costs as much as verifying with it. */
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
