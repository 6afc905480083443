export type { WebhookPayload } from "@keyhook/sdk";
export { createReceiver, type Receiver } from "./create-receiver.ts";
export { type DeliveryStore, memoryStore, type StoredAnswer } from "./delivery/delivery-store.ts";
export { isEvent, type PayloadOf } from "./delivery/incoming-request.ts";
export type { DeliveryContext } from "./delivery/registered-handler.ts";
export type { ErrorSource, HandlerOptions, HandlerResult, Json, ReceiverOptions, WebhookHandler } from "./receiver-options.ts";
export type { RelayOptions } from "./serve/connect-relay.ts";
export type { Launched, LaunchOptions } from "./serve/launch.ts";
export { launch, sharedReceiver, webhook } from "./shared-receiver.ts";
