import { parseArgs } from "node:util";
import { SettingsError } from "#core/env.ts";
import { ChildFailed } from "#core/instance/child.ts";
import { CANNOT_START } from "#core/instance/exit-codes.ts";
import { runService, type ServiceOptions } from "#core/instance/run-service.ts";
import { MigrationError } from "#core/postgres/migrate.ts";

/**
 * `npm start`: the database, the web process and the worker, for as long as this process lives. `--dev` follows changes; `--only web` and
 * `--only worker` run one of the two, on a machine or in a container of its own.
 */
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
  throw new SettingsError("--only is followed by web or worker.");
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
