import type { ListedOAuthApp } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addAppLsCommand(apps: Command, terminal: Terminal): void {
  const command = apps.command("ls").alias("list").description("list OAuth apps");
  withOrganization(command).action(act(terminal, ls));
}

async function ls(at: Context, { organization }: OrganizationOption): Promise<void> {
  const found: ListedOAuthApp[] = [];
  for await (const app of (await at.client()).apps.list({ organization, signal: at.signal })) found.push(app);
  at.print.list(
    found.map(({ id, name, clientId, isConfidential, scopes, userCount }) => ({
      id,
      name,
      clientId,
      confidential: isConfidential,
      scopes,
      users: userCount,
    })),
    { items: found },
  );
}
