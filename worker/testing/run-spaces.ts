import { startSpaces } from "../spaces.ts";

/** A worker of Spaces alone, in a process of its own, for tests that kill it. */
await startSpaces();
process.send?.("ready");
