import { startSpaces } from "../runs.ts";

await startSpaces();
process.send?.("ready");
