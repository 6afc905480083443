import { createHmac } from "node:crypto";
import type { ClaimedDelivery, ClaimedWebhook } from "./delivery.ts";
import { type SigningSecret, signingSecret } from "./signing-secret.ts";

/** Headers of one attempt (S123, docs/specification/webhooks.md#delivery). `signature` is also kept with the attempt. */
export type SignedHeaders = { headers: Record<string, string>; signature: string | null };

/** The parts of a delivery that its headers are made of. */
type Signable = Pick<ClaimedDelivery, "id"> & {
  kind?: ClaimedDelivery["kind"];
  webhook: Pick<ClaimedWebhook, "secret" | "previousSecret"> | null;
  event: { isTest: boolean } | null;
};

/**
 * The secret as typed, and the headers of Standard Webhooks: `webhook-id` is the delivery's, the same in every attempt and
 * replay, and the signature covers it, the time and the body. A replaced secret also signs until it expires.
 * @throws if the secret cannot be read: it was sealed under another SECRET_KEY
 */
export function deliveryHeaders({ id, kind, webhook, event }: Signable, body: string, startedAt: Date): SignedHeaders {
  const timestamp = String(Math.floor(startedAt.getTime() / 1000));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    // So that a receiver can tell real events from made-up ones.
    ...(event?.isTest && { "x-webhook-test": "true" }),
    // So that a receiver that accepts each id once can tell requested replays from duplicates.
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

/** That it cannot be read may be why it was replaced. */
function readable(sealed: Buffer): SigningSecret | undefined {
  try {
    return signingSecret(sealed);
  } catch {
    return undefined;
  }
}
