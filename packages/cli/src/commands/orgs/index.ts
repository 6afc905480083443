import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addOrgInfoCommand } from "./info.ts";
import { addOrgLsCommand } from "./ls.ts";
import { addOrgMembersCommand } from "./members.ts";

export function addOrgsCommands(program: Command, terminal: Terminal): void {
  const orgs = program.command("orgs").description("organizations");
  for (const add of [addOrgLsCommand, addOrgInfoCommand, addOrgMembersCommand]) add(orgs, terminal);
}
