import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addCancelCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs.command("cancel").description("stop a job").argument("<id>", "of the job");
  withOrganization(command).action(act(terminal, cancel));
}

async function cancel(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  const job = await (await at.client()).jobs.cancel(id, { organization, signal: at.signal });
  at.print.done("Job cancelled", { id: job.id });
}
