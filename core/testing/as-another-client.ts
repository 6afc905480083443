import { AsyncLocalStorage } from "node:async_hooks";

/** For a test that holds a transaction open while this client waits. */
export const asAnotherClient: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
