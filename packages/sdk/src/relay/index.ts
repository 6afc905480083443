export { type ForwardOptions, forwardTo } from "./forward-to.ts";
export { type ListenOptions, listenToRelay, type RelayState } from "./listen-to-relay.ts";
export type { HeaderPairs, RelayAnswer, RelayedRequest } from "./relayed-request.ts";
export type { RelaysClient } from "./relays.ts";
export * from "./schemas.ts";
