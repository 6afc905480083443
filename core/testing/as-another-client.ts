import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Does something as if another client did it: a test that holds a transaction open may let another one wait for it, on a connection of its
 * own (core/held-connection.ts).
 */
export const asAnotherClient: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
