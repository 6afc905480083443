import type { Command } from "commander";
import { act, type Context } from "../context.ts";
import type { Terminal } from "../terminal.ts";

export function addWhoamiCommand(program: Command, terminal: Terminal): void {
  program.command("whoami").description("say who is signed in, and where").action(act(terminal, whoami));
}

async function whoami(at: Context): Promise<void> {
  const client = await at.client();
  const me = await client.whoami({ signal: at.signal });
  const email = me.type === "user" ? me.email : undefined;
  const organizations = me.orgs.map(({ name, roleInOrg }) => `${name} (${roleInOrg})`);
  at.print.done(`Signed in to ${client.baseUrl} as ${me.name}`, {
    name: me.name,
    fullName: me.fullname,
    email,
    organizations: organizations.length > 0 ? organizations : undefined,
    url: client.baseUrl,
  });
}
