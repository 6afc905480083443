import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import type { Terminal } from "../../terminal.ts";
import { withOrganization } from "../organization-option.ts";
import { type SettingsOptions, settingsOf, withSettings } from "./settings-options.ts";

type Options = SettingsOptions & { confidential?: boolean; bound?: boolean };

export function addAppCreateCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("create")
    .description("create an OAuth app")
    .argument("<name>", "what people read when it asks them")
    .option("--confidential", "with a secret, shown this once")
    .option("--bound", "bound to its organization, for token exchange");
  withOrganization(withSettings(command)).action(act(terminal, create));
}

async function create(at: Context, options: Options, name: string): Promise<void> {
  const { confidential: isConfidential, bound: isBound, organization } = options;
  const input = { ...settingsOf(options), name, isConfidential, isBound };
  const { app, secret } = await (await at.client()).apps.create(input, { organization, signal: at.signal });
  at.print.done("App created", { id: app.id, clientId: app.clientId, secret });
  if (secret !== undefined && at.print.format === "quiet") at.print.always(`secret: ${secret}`);
}
