import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";

export function addOrgInfoCommand(orgs: Command, terminal: Terminal): void {
  orgs.command("info").description("show an organization").argument("<name>", "its handle").action(act(terminal, info));
}

async function info(at: Context, _options: object, name: string): Promise<void> {
  at.print.record(await (await at.client()).organizations.get(name, { signal: at.signal }));
}
