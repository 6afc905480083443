import tab from "@bomb.sh/tab/commander";
import { Command, Option } from "commander";
import { addAppsCommands } from "./commands/apps.ts";
import { addAuditCommands } from "./commands/audit.ts";
import { addJobsCommands } from "./commands/jobs.ts";
import { addLoginCommand, addLogoutCommand, addWhoamiCommand } from "./commands/login.ts";
import { addOrgsCommands } from "./commands/orgs.ts";
import { addWebhooksCommands } from "./commands/webhooks/index.ts";
import { hasOwnUrl, version } from "./context.ts";
import { webAddress } from "./options.ts";
import { formats } from "./output/printer.ts";
import type { Terminal } from "./terminal.ts";

export function createProgram(terminal: Terminal): Command {
  const program = new Command("keyhook")
    .description("Sign in to a Keyhook service; manage webhooks, jobs and apps there, and see organizations and their audit logs")
    .version(version, "-V, --version", "print the version")
    .enablePositionalOptions()
    .showHelpAfterError("(--help shows the usage)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      getOutHelpWidth: () => terminal.stdout.columns ?? 100,
      getErrHelpWidth: () => terminal.stdout.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addLoginCommand(program, terminal);
  addLogoutCommand(program, terminal);
  addWhoamiCommand(program, terminal);
  addWebhooksCommands(program, terminal);
  addJobsCommands(program, terminal);
  addAppsCommands(program, terminal);
  addOrgsCommands(program, terminal);
  addAuditCommands(program, terminal);
  addCommonOptions(program);
  // Added last, because this command reads the other commands.
  addCompletionCommand(program);
  return program;
}

/** Common options may follow the command. If the command has its own `--url`, write the service's `--url` before the command. */
function addCommonOptions(command: Command): void {
  const isGroup = command.parent !== null && command.commands.length > 0;
  if (isGroup) command.enablePositionalOptions();
  else addOptions(command);
  for (const below of command.commands) addCommonOptions(below);
}

function addOptions(command: Command): void {
  for (const option of commonOptions()) {
    const isTaken = option.long === "--url" ? hasOwnUrl(command) : command.options.some(({ long }) => long === option.long);
    if (!isTaken) command.addOption(option);
  }
}

function commonOptions(): Option[] {
  return [
    new Option("--url <address>", "the service's URL (KEYHOOK_URL)").argParser(webAddress),
    new Option("--token <token>", "use this token instead of the sign-in (KEYHOOK_TOKEN)"),
    new Option("--format <format>", "the output format; auto is human on a terminal and agent elsewhere").choices(formats),
    new Option("--json", "short for --format json"),
    new Option("-q, --quiet", "short for --format quiet, which prints only IDs"),
    new Option("--no-truncate", "do not shorten long values"),
  ];
}

/** The printed script runs `complete -- …` at each press of Tab. Both commands read the tree of commands. */
function addCompletionCommand(program: Command): void {
  tab(program, { completionCommandName: "completion" });
  const command = program.commands.find((one) => one.name() === "completion");
  command?.description("print the completion script of a shell: bash, zsh, fish or powershell");
}
