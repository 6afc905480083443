import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { BadInput } from "../../errors.ts";
import type { Terminal } from "../../terminal.ts";
import { withOrganization } from "../organization-option.ts";
import { type SettingsOptions, settingsOf, withSettings } from "./settings-options.ts";

export function addAppUpdateCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("update")
    .description("change an OAuth app; what is left out stays as it is")
    .argument("<id>", "of the app")
    .option("--name <name>", "what people read when it asks them");
  withOrganization(withSettings(command)).action(act(terminal, update));
}

async function update(at: Context, options: SettingsOptions, id: string): Promise<void> {
  const changes = settingsOf(options);
  if (Object.keys(changes).length === 0) throw new BadInput("Say what to change: --help lists it.");
  const { organization } = options;
  const app = await (await at.client()).apps.update(id, changes, { organization, signal: at.signal });
  at.print.done("App updated", { id: app.id });
}
