import { startSpaces } from "../runs.ts";

/** A worker only for Spaces, in a process of its own, for tests that kill it. */
await startSpaces();
process.send?.("ready");
