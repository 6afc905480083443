import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addCancelCommand } from "./cancel.ts";
import { addInspectCommand } from "./inspect.ts";
import { addLogsCommand } from "./logs.ts";
import { addPsCommand } from "./ps.ts";
import { addRunCommand } from "./run.ts";

export function addJobsCommands(program: Command, terminal: Terminal): void {
  const jobs = program.command("jobs").description("jobs: commands that the service runs");
  for (const add of [addRunCommand, addPsCommand, addLogsCommand, addCancelCommand, addInspectCommand]) add(jobs, terminal);
}
