import { loadCommands } from "./admin/commands.ts";
import { helpJson, helpText } from "./admin/help.ts";
import { parseArguments, type Request, wantsJson } from "./admin/parse-arguments.ts";
import { describeFailure, EXIT, printable } from "./admin/report.ts";
import { runCommand } from "./admin/run-command.ts";

/** `npm run --silent admin -- user create …`: results on standard output, errors on standard error; as JSON with `--json`. */
const argv = process.argv.slice(2);
let request: Request | undefined;

try {
  const commands = await loadCommands(argv);
  request = parseArguments(argv, commands);
  if (request.kind === "help") {
    print(request.isJson ? JSON.stringify(helpJson(commands, request.command)) : helpText(commands, request.command));
  } else {
    const outcome = await runCommand(request.command, request.values);
    print(request.isJson ? JSON.stringify(outcome.json) : outcome.text);
    process.exitCode = outcome.isFailure ? EXIT.failed : EXIT.done;
  }
} catch (error) {
  const failure = describeFailure(error, request?.kind === "run" ? request.command : undefined);
  process.stderr.write(`${printable(wantsJson(argv) ? JSON.stringify(failure.json) : failure.text)}\n`);
  process.exitCode = failure.exitCode;
}

function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}
