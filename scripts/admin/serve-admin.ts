import { provideSettings } from "#core/env.ts";
import type { AdminRequest, AdminResponse } from "./admin-process.ts";
import { loadCommands } from "./commands.ts";
import { parseArguments } from "./parse-arguments.ts";
import { describeFailure } from "./report.ts";
import { runCommand } from "./run-command.ts";

/** The other side of `AdminProcess`. Each command opens and closes the installation. */
const environment = { ...process.env };
let last: Promise<void> = Promise.resolve();
process.on("message", ({ id, args }: AdminRequest) => {
  last = last.then(async () => {
    process.send?.({ id, ...(await answer(args)) } satisfies AdminResponse);
  });
});
process.on("disconnect", () => process.exit());

async function answer(args: string[]): Promise<Omit<AdminResponse, "id">> {
  // State of the previous command, such as the database's URL, may be out of date.
  for (const name of Object.keys(process.env)) delete process.env[name];
  provideSettings(environment);
  try {
    const request = parseArguments(args, await loadCommands(args));
    if (request.kind === "help") throw new Error(`${args.join(" ")} is not a command`);
    const { json, text, isFailure } = await runCommand(request.command, request.values);
    return isFailure ? { failure: { error: text, code: "failed" } } : { json };
  } catch (error) {
    return { failure: describeFailure(error).json };
  }
}
