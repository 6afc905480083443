import type { EventScope, WebhookPayload } from "@keyhook/sdk";

/** The payloads of one scope: TypeScript narrows no union by a field of a field, and this does. */
export type PayloadOf<Scope extends EventScope> = Extract<WebhookPayload, { event: { scope: Scope } }>;

/** Whether it is of this scope, after which its other fields are known: `if (isEvent(payload, "repo.content")) payload.updatedRefs`. */
export function isEvent<Scope extends EventScope>(payload: WebhookPayload, scope: Scope): payload is PayloadOf<Scope> {
  return payload.event.scope === scope;
}
