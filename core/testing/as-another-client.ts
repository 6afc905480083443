import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Runs `work` as another client: a test that holds a transaction open can let that client wait for it, on a connection of its
 * own (core/held-connection.ts).
 */
export const asAnotherClient: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
