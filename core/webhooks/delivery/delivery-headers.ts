import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { unseal } from "../../crypto/seal.ts";
import type { ClaimedDelivery, ClaimedWebhook } from "./delivery.ts";

/** S123 defines the headers. `signature` is also stored with the attempt. */
export type SignedHeaders = { headers: Record<string, string>; signature: string | null };

type Signable = Pick<ClaimedDelivery, "id"> & {
  kind?: ClaimedDelivery["kind"];
  webhook: Pick<ClaimedWebhook, "secret" | "previousSecret"> | null;
  event: { isTest: boolean } | null;
};

/**
 * `webhook-id` is the delivery's ID, also in every replay.
 * @throws Error if the secret was sealed with another SECRET_KEY
 */
export function deliveryHeaders({ id, kind, webhook, event }: Signable, body: string, startedAt: Date): SignedHeaders {
  const timestamp = String(Math.floor(startedAt.getTime() / 1000));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(event?.isTest && { "x-webhook-test": "true" }),
    // With this header, a receiver that accepts each ID once can tell requested replays from duplicates.
    ...(kind === "replay" && { "x-webhook-replay": "true" }),
  };
  const current = webhook?.secret?.length ? signingSecret(webhook.secret) : undefined;
  // The previous secret only signs, for receivers that do not know the new one yet.
  if (current) headers["x-webhook-secret"] = current.text;
  const previous = webhook?.previousSecret?.length ? readable(webhook.previousSecret) : undefined;
  const secrets = [current, previous].filter((secret) => secret !== undefined);
  const signed = `${id}.${timestamp}.${body}`;
  const signature = secrets.map(({ key }) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`).join(" ");
  if (signature) headers["webhook-signature"] = signature;
  return { headers, signature: signature || null };
}

/** The previous secret may have been replaced because it was unreadable. */
function readable(sealed: Buffer): SigningSecret | undefined {
  try {
    return signingSecret(sealed);
  } catch {
    return undefined;
  }
}

type SigningSecret = { text: string; key: KeyObject };

const KEPT_MAX = 1_000;
const kept = new Map<string, SigningSecret>();

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

/** Standard Webhooks encodes a secret's bytes. Any other secret is used as UTF-8 bytes. */
export function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? undefined : Buffer.from(encoded, "base64");
  return key && key.length > 0 ? key : Buffer.from(secret, "utf8");
}
