import { Command, Option } from "commander";
import { addAppsCommands } from "./commands/apps/index.ts";
import { addAuditCommands } from "./commands/audit/index.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addJobsCommands } from "./commands/jobs/index.ts";
import { addLoginCommand } from "./commands/login.ts";
import { addLogoutCommand } from "./commands/logout.ts";
import { addOrgsCommands } from "./commands/orgs/index.ts";
import { addWebhooksCommands } from "./commands/webhooks/index.ts";
import { addWhoamiCommand } from "./commands/whoami.ts";
import { hasOwnUrl } from "./context.ts";
import { webAddress } from "./options.ts";
import { formats } from "./output/format.ts";
import type { Terminal } from "./terminal.ts";
import { version } from "./version.ts";

/** The commands as one tree. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("keyhook")
    .description("Sign in to a Keyhook service; manage webhooks, jobs, apps and organizations there")
    .version(version, "-V, --version", "print the version")
    .enablePositionalOptions()
    .showHelpAfterError("(--help shows how it is written)")
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
  // Last: it reads what there is.
  addCompletionCommand(program);
  return program;
}

/**
 * On the program and on each command, so that they may stand at the end, where people write them. Of a command that has an `--url` of its
 * own (a webhook's) the service's stands before it: `keyhook --url … webhooks create --url …`.
 */
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
    new Option("--url <address>", "where the service is (KEYHOOK_URL)").argParser(webAddress),
    new Option("--token <token>", "in place of the sign-in (KEYHOOK_TOKEN)"),
    new Option("--format <format>", "how to answer: auto is human on a terminal, agent elsewhere").choices(formats),
    new Option("--json", "short for --format json"),
    new Option("-q, --quiet", "short for --format quiet: ids alone"),
    new Option("--no-truncate", "show long values whole"),
  ];
}
