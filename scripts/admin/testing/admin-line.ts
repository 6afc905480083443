import { loadCommands } from "../commands.ts";
import { parseArguments } from "../parse-arguments.ts";
import { describeFailure, EXIT } from "../report.ts";

export type AdminOutcome = { exitCode: number; json: Record<string, unknown>; text: string };

/** Runs the command in this process, because starting a process for each command would take a second. */
export async function adminLine(...args: string[]): Promise<AdminOutcome> {
  const request = parseArguments(args, await loadCommands(args));
  if (request.kind !== "run") throw new Error("use helpText for help");
  try {
    const { json, text, isFailure } = await request.command.run(request.values);
    return { exitCode: isFailure ? EXIT.failed : EXIT.done, json: json as Record<string, unknown>, text };
  } catch (error) {
    const { exitCode, json, text } = describeFailure(error, request.command);
    return { exitCode, json, text };
  }
}
