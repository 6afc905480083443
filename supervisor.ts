import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ServiceOptions } from "#core/instance/run-service.ts";

// Compiling takes a third of a start, so the result is kept beside the code, where nobody else can write.
enableCompileCache(join(import.meta.dirname, "node_modules/.cache/node"));
const [{ SettingsError }, { ChildFailed }, { CANNOT_START }, { runService }, { MigrationError }] = await Promise.all([
  import("#core/env.ts"),
  import("#core/instance/child.ts"),
  import("#core/instance/process-lifecycle.ts"),
  import("#core/instance/run-service.ts"),
  import("#core/postgres/migrate.ts"),
]);

const stopping = new AbortController();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stopping.abort());

let status: number;
try {
  status = await runService({ ...readOptions(process.argv.slice(2)), stopping: stopping.signal });
} catch (error) {
  if (stopping.signal.aborted) {
    status = 0;
  } else {
    status = exitStatusOf(error);
  }
}
process.exit(status);

/** With `--dev`, changes of the code take effect. `--only web` and `--only worker` start one of the two processes. */
function readOptions(args: string[]): ServiceOptions {
  try {
    const { dev, only } = parseArgs({
      args,
      options: { dev: { type: "boolean", default: false }, only: { type: "string" } },
    }).values;
    if (only === undefined || only === "web" || only === "worker") return { isDevelopment: dev, only };
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
  throw new SettingsError("--only must be followed by web or worker.");
}

function exitStatusOf(error: unknown): number {
  if (error instanceof ChildFailed && error.isExplained) return CANNOT_START;
  if (error instanceof SettingsError || error instanceof MigrationError) {
    console.error(`\n${error.message}\n`);
    return CANNOT_START;
  }
  console.error(error);
  return 1;
}
