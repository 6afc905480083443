import { verifyWebhookSignature, WebhookVerificationError } from "@keyhook/sdk";
import { type IncomingRequest, RefusedError } from "./incoming-request.ts";

export type SenderRules = { secrets: readonly string[]; requireSignature: boolean | undefined; toleranceSeconds: number };

/**
 * Who sends (S140). What headers alone can tell is told before the body is read. A signature that comes must be right, also beside a right
 * `X-Webhook-Secret`; and one is required of a `whsec_` secret, which is made for signing: without it whoever overheard one request
 * could send others for ever.
 * @throws RefusedError 401, 403
 */
export async function checkSender(incoming: IncomingRequest, rules: SenderRules): Promise<"trusted" | "verify the body"> {
  const { secrets, requireSignature } = rules;
  if (secrets.length === 0) return "trusted";
  if (incoming.header("webhook-signature") !== undefined) return "verify the body";
  const sent = incoming.header("x-webhook-secret");
  if (sent === undefined) throw new RefusedError(401, "x-webhook-secret header not set.");
  const plain =
    requireSignature === undefined ? secrets.filter((one) => !one.startsWith("whsec_")) : requireSignature ? [] : secrets;
  if (plain.length === 0) {
    throw new RefusedError(401, "webhook-signature header not set: this receiver takes signed deliveries only.");
  }
  await verify(new Uint8Array(0), incoming, plain, rules.toleranceSeconds);
  return "trusted";
}

/** @throws RefusedError 403 */
export function checkSignature(body: Uint8Array, incoming: IncomingRequest, rules: SenderRules): Promise<void> {
  return verify(body, incoming, rules.secrets, rules.toleranceSeconds);
}

async function verify(body: Uint8Array, incoming: IncomingRequest, secret: readonly string[], toleranceSeconds: number) {
  try {
    const headers = { get: (name: string) => incoming.header(name) ?? null };
    await verifyWebhookSignature({ body, headers, secret, toleranceSeconds });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    const isSecret = error.code === "wrong_secret" || error.code === "wrong_signature";
    throw new RefusedError(403, isSecret ? "Invalid webhook secret." : error.message);
  }
}
