import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { wholeNumber } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { followLogs } from "./follow-logs.ts";

export function addLogsCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs
    .command("logs")
    .description("print what a job prints, until it is over")
    .argument("<id>", "of the job")
    .option("--tail <lines>", "begin with the last lines", wholeNumber);
  withOrganization(command).action(act(terminal, logs));
}

const logs = (at: Context, options: OrganizationOption & { tail?: number }, id: string): Promise<void> =>
  followLogs(at, id, options);
