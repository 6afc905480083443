/** The version of the payload that `webhook.version` names (docs/specification/webhooks.md#payload). */
export const PAYLOAD_VERSION = 3;

/**
 * The body of a delivery: the event's text as it was recorded, and the webhook that it comes from. Made of text alone, so that it is the
 * same to the byte in every attempt and replay, whatever this service's next version does with JSON (S124).
 * @param event `event.payload` as text: a JSON object that is not empty
 */
export function deliveryBody(event: string, webhookId: string): string {
  return `${event.trimEnd().slice(0, -1)},"webhook":{"id":"${webhookId}","version":${PAYLOAD_VERSION}}}`;
}
