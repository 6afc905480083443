import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";

export function addOrgLsCommand(orgs: Command, terminal: Terminal): void {
  orgs.command("ls").alias("list").description("list the organizations that the sign-in reaches").action(act(terminal, ls));
}

async function ls(at: Context): Promise<void> {
  const { orgs } = await (await at.client()).whoami({ signal: at.signal });
  at.print.list(
    orgs.map(({ name, fullname, roleInOrg, plan }) => ({ name, fullName: fullname, role: roleInOrg, plan })),
    { items: orgs },
  );
}
