/** The version of the payload that `webhook.version` names (docs/specification/webhooks.md#payload). */
export const PAYLOAD_VERSION = 3;

/**
 * The body of a delivery: the stored text of the event, plus the webhook. It is built from text alone, so that every attempt
 * and replay sends the same bytes, however later versions of this service write JSON (S124).
 * @param event `event.payload` as text: a JSON object that is not empty
 */
export function deliveryBody(event: string, webhookId: string): string {
  return `${event.trimEnd().slice(0, -1)},"webhook":{"id":"${webhookId}","version":${PAYLOAD_VERSION}}}`;
}
