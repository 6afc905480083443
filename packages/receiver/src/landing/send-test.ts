import { signWebhook } from "@keyhook/sdk";
import type { Receiver } from "../create-receiver.ts";
import type { RegisteredHandler } from "../delivery/registered-handler.ts";
import { fromRequest } from "../serve/from-request.ts";
import { samplePayload } from "./sample-payload.ts";

/** Sends a sample to a handler, by the way of every delivery: signed with the secret where there is one. */
export async function sendTest(receiver: Receiver, handler: RegisteredHandler): Promise<number> {
  const body = JSON.stringify(samplePayload());
  const id = `test_${crypto.randomUUID()}`;
  const [secret] = receiver.secrets;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-webhook-test": "true",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    ...(secret !== undefined && (await signWebhook({ id, body, secret }))),
  };
  const request = new Request(`http://localhost/webhooks/${handler.name}`, { method: "POST", headers, body });
  return (await receiver.receive(fromRequest(request), handler)).status;
}
