import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";

/**
 * `completion <shell>` prints the script, which asks `complete -- …` at each press of Tab. Both read the tree of commands, so that a new
 * command or option is completed without a word here. They write to the process's own output.
 */
export function addCompletionCommand(program: Command): void {
  tab(program, { completionCommandName: "completion" });
  const command = program.commands.find((one) => one.name() === "completion");
  command?.description("print what makes a shell complete commands and options: bash, zsh, fish, powershell");
}
