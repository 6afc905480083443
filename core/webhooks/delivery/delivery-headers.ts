import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { unseal } from "../../crypto/seal.ts";
import type { ClaimedDelivery, ClaimedWebhook } from "./delivery.ts";

/** Headers of one attempt (S123, docs/specification/webhooks.md#delivery). `signature` is also kept with the attempt. */
export type SignedHeaders = { headers: Record<string, string>; signature: string | null };

/** The parts of a delivery that its headers are made of. */
type Signable = Pick<ClaimedDelivery, "id"> & {
  kind?: ClaimedDelivery["kind"];
  webhook: Pick<ClaimedWebhook, "secret" | "previousSecret"> | null;
  event: { isTest: boolean } | null;
};

/**
 * The headers of Standard Webhooks, and the secret as typed. `webhook-id` is the delivery's id, the same in every attempt and replay. The
 * signature covers that id, the time and the body. A replaced secret also signs until it expires.
 * @throws if the secret cannot be read: it was sealed under another SECRET_KEY
 */
export function deliveryHeaders({ id, kind, webhook, event }: Signable, body: string, startedAt: Date): SignedHeaders {
  const timestamp = String(Math.floor(startedAt.getTime() / 1000));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    // This lets a receiver tell real events from made-up ones.
    ...(event?.isTest && { "x-webhook-test": "true" }),
    // This lets a receiver that accepts each id once tell requested replays from duplicates.
    ...(kind === "replay" && { "x-webhook-replay": "true" }),
  };
  const current = webhook?.secret?.length ? signingSecret(webhook.secret) : undefined;
  // Only the current secret is sent: the previous one signs, for receivers that do not know the new one yet.
  if (current) headers["x-webhook-secret"] = current.text;
  const previous = webhook?.previousSecret?.length ? readable(webhook.previousSecret) : undefined;
  const secrets = [current, previous].filter((secret) => secret !== undefined);
  const signed = `${id}.${timestamp}.${body}`;
  const signature = secrets.map(({ key }) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`).join(" ");
  if (signature) headers["webhook-signature"] = signature;
  return { headers, signature: signature || null };
}

/** The previous secret, or nothing if it cannot be read, which may be why it was replaced. */
function readable(sealed: Buffer): SigningSecret | undefined {
  try {
    return signingSecret(sealed);
  } catch {
    return undefined;
  }
}

type SigningSecret = { text: string; key: KeyObject };

/** The number of secrets that are kept unsealed: many deliveries use few secrets. */
const KEPT_MAX = 1_000;
const kept = new Map<string, SigningSecret>();

/** A webhook's secret and the key that signs with it. */
function signingSecret(sealed: Buffer): SigningSecret {
  const name = sealed.toString("latin1");
  let secret = kept.get(name);
  if (!secret) {
    const text = unseal("webhook secret", sealed);
    secret = { text, key: createSecretKey(keyOf(text)) };
    kept.set(name, secret);
    const [first] = kept.keys();
    if (kept.size > KEPT_MAX && first !== undefined) kept.delete(first);
  }
  return secret;
}

/** A secret in the form of Standard Webhooks encodes its bytes; any other is used as its UTF-8 bytes. */
export function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? undefined : Buffer.from(encoded, "base64");
  return key && key.length > 0 ? key : Buffer.from(secret, "utf8");
}
