import type { MemberRecord } from "@keyhook/sdk";
import type { Command } from "commander";
import { actionOf, type Context } from "../context.ts";
import type { Terminal } from "../terminal.ts";

export function addOrgsCommands(program: Command, terminal: Terminal): void {
  const orgs = program.command("orgs").description("organizations");
  for (const add of [addOrgLsCommand, addOrgInfoCommand, addOrgMembersCommand]) add(orgs, terminal);
}

function addOrgLsCommand(orgs: Command, terminal: Terminal): void {
  orgs
    .command("ls")
    .alias("list")
    .description("list the organizations that your sign-in has access to")
    .action(actionOf(terminal, ls));
}

async function ls(at: Context): Promise<void> {
  const { orgs } = await (await at.client()).whoami({ signal: at.signal });
  at.print.list(
    orgs.map(({ name, fullname, roleInOrg, plan }) => ({ name, fullName: fullname, role: roleInOrg, plan })),
    { items: orgs },
  );
}

function addOrgInfoCommand(orgs: Command, terminal: Terminal): void {
  orgs
    .command("info")
    .description("show an organization")
    .argument("<name>", "the organization's handle")
    .action(actionOf(terminal, info));
}

async function info(at: Context, _options: object, name: string): Promise<void> {
  at.print.record(await (await at.client()).organizations.get(name, { signal: at.signal }));
}

function addOrgMembersCommand(orgs: Command, terminal: Terminal): void {
  orgs
    .command("members")
    .description("list the members of an organization that you belong to")
    .argument("<name>", "the organization's handle")
    .action(actionOf(terminal, members));
}

async function members(at: Context, _options: object, name: string): Promise<void> {
  const found: MemberRecord[] = [];
  for await (const member of (await at.client()).organizations.members(name, { signal: at.signal })) found.push(member);
  at.print.list(
    found.map(({ user, fullname, role }) => ({ name: user, fullName: fullname, role })),
    { items: found },
  );
}
