import { AsyncLocalStorage } from "node:async_hooks";

/** Runs `work` outside the test's async context. Otherwise `db()` would refuse it while the test holds a transaction open. */
export const asAnotherClient: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
