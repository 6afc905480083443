import { loadCommands } from "../../scripts/admin/commands.ts";
import { parseArguments } from "../../scripts/admin/parse-arguments.ts";
import { describeFailure } from "../../scripts/admin/report.ts";
import { runCommand } from "../../scripts/admin/run-command.ts";

/**
 * The operator command as a process that stays (admin.ts beside this): loading the service takes longer than all that specs
 * ask of it. One command at a time, each opening and closing the installation as the command itself does.
 */
const environment = { ...process.env };
let last: Promise<void> = Promise.resolve();
process.on("message", ({ id, args }: { id: number; args: string[] }) => {
  last = last.then(async () => {
    process.send?.({ id, ...(await answer(args)) });
  });
});
process.on("disconnect", () => process.exit());

async function answer(args: string[]): Promise<{ json?: unknown; error?: string }> {
  // What the one before has found out, such as where the database is, need not hold any more.
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  try {
    const request = parseArguments(args, await loadCommands(args));
    if (request.kind === "help") throw new Error(`${args.join(" ")} is no command`);
    const { json, isFailure } = await runCommand(request.command, request.values);
    return isFailure ? { error: JSON.stringify(json) } : { json };
  } catch (error) {
    return { error: describeFailure(error).text };
  }
}
