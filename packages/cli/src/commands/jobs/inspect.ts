import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addInspectCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs.command("inspect").description("show all of one job").argument("<id>", "of the job");
  withOrganization(command).action(act(terminal, inspect));
}

async function inspect(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  at.print.record(await (await at.client()).jobs.get(id, { organization, signal: at.signal }));
}
