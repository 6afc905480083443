import type { MemberRecord } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";

export function addOrgMembersCommand(orgs: Command, terminal: Terminal): void {
  orgs
    .command("members")
    .description("list the members of an organization, for its members")
    .argument("<name>", "its handle")
    .action(act(terminal, members));
}

async function members(at: Context, _options: object, name: string): Promise<void> {
  const found: MemberRecord[] = [];
  for await (const member of (await at.client()).organizations.members(name, { signal: at.signal })) found.push(member);
  at.print.list(
    found.map(({ user, fullname, role }) => ({ name: user, fullName: fullname, role })),
    { items: found },
  );
}
