import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { watchedText } from "./webhook-text.ts";

export function addLsCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks.command("ls").alias("list").description("list webhooks");
  withOrganization(command).action(act(terminal, ls));
}

/** Columns and their order as existing tools have them (docs/specification/existing-clients.md#the-command-lines-output). */
async function ls(at: Context, { organization }: OrganizationOption): Promise<void> {
  const found = await (await at.client()).webhooks.list({ organization, signal: at.signal });
  at.print.list(
    found.map(({ id, url, disabled, domains, watched }) => ({
      id,
      url: url ?? "(job)",
      disabled,
      domains,
      watched: watched.map(watchedText),
    })),
  );
}
