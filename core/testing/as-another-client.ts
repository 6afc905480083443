import { AsyncLocalStorage } from "node:async_hooks";

/** A test may hold a transaction open while `work` waits. */
export const asAnotherClient: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
