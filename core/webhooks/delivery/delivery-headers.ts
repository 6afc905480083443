import { createHmac } from "node:crypto";
import type { ClaimedDelivery, ClaimedWebhook } from "./delivery.ts";
import { type SigningSecret, signingSecret } from "./signing-secret.ts";

/** Headers of one attempt (S123, docs/specification/webhooks.md#delivery). `signature` is also kept with the attempt. */
export type SignedHeaders = { headers: Record<string, string>; signature: string | null };

/** What of a delivery its headers are made of. */
type Signable = Pick<ClaimedDelivery, "id"> & {
  kind?: ClaimedDelivery["kind"];
  webhook: Pick<ClaimedWebhook, "secret" | "previousSecret"> | null;
  event: { isTest: boolean } | null;
};

/**
 * The secret as it was typed, and the headers of Standard Webhooks: `webhook-id` is the delivery's, the same in every attempt and
 * replay, and the signature covers it, the time and the body. While a secret that was replaced still counts, it signs as well.
 * @throws where the secret cannot be read: it was sealed under another SECRET_KEY
 */
export function deliveryHeaders({ id, kind, webhook, event }: Signable, body: string, startedAt: Date): SignedHeaders {
  const timestamp = String(Math.floor(startedAt.getTime() / 1000));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    // So that a receiver can tell what nobody did from what somebody did.
    ...(event?.isTest && { "x-webhook-test": "true" }),
    // So that one which takes each id once can tell what somebody asked for from what came twice.
    ...(kind === "replay" && { "x-webhook-replay": "true" }),
  };
  const current = webhook?.secret?.length ? signingSecret(webhook.secret) : undefined;
  // Only the present one is shown as it is: the one before it signs, for receivers that do not know the new one yet.
  if (current) headers["x-webhook-secret"] = current.text;
  const previous = webhook?.previousSecret?.length ? readable(webhook.previousSecret) : undefined;
  const secrets = [current, previous].filter((secret) => secret !== undefined);
  const signed = `${id}.${timestamp}.${body}`;
  const signature = secrets.map(({ key }) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`).join(" ");
  if (signature) headers["webhook-signature"] = signature;
  return { headers, signature: signature || null };
}

/** One that cannot be read may be why it was replaced. */
function readable(sealed: Buffer): SigningSecret | undefined {
  try {
    return signingSecret(sealed);
  } catch {
    return undefined;
  }
}
