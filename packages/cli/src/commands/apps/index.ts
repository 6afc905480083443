import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addAppCreateCommand } from "./create.ts";
import { addAppDeleteCommand } from "./delete.ts";
import { addAppInfoCommand } from "./info.ts";
import { addAppLsCommand } from "./ls.ts";
import { addAppRotateSecretCommand } from "./rotate-secret.ts";
import { addAppUpdateCommand } from "./update.ts";

export function addAppsCommands(program: Command, terminal: Terminal): void {
  const apps = program.command("apps").description("OAuth apps, which let people sign in with the service");
  for (const add of [
    addAppLsCommand,
    addAppInfoCommand,
    addAppCreateCommand,
    addAppUpdateCommand,
    addAppRotateSecretCommand,
    addAppDeleteCommand,
  ]) {
    add(apps, terminal);
  }
}
