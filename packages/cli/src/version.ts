import { readFileSync } from "node:fs";

/** Read and not imported: older versions of Node warn, on every run, of a module that is JSON. */
export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
