import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addActivityCommand } from "./activity.ts";
import { addCreateCommand } from "./create.ts";
import { addDeleteCommand } from "./delete.ts";
import { addDeliveryCommand } from "./delivery.ts";
import { addDisableCommand } from "./disable.ts";
import { addEnableCommand } from "./enable.ts";
import { addInfoCommand } from "./info.ts";
import { addListenCommand } from "./listen.ts";
import { addLsCommand } from "./ls.ts";
import { addReplayCommand } from "./replay.ts";
import { addTestCommand } from "./send-test.ts";
import { addUpdateCommand } from "./update.ts";

export function addWebhooksCommands(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command("webhooks")
    .description("webhooks: what they watch, where they send it, and what became of it");
  for (const add of [
    addLsCommand,
    addInfoCommand,
    addCreateCommand,
    addUpdateCommand,
    addEnableCommand,
    addDisableCommand,
    addDeleteCommand,
    addActivityCommand,
    addDeliveryCommand,
    addReplayCommand,
    addTestCommand,
    addListenCommand,
  ]) {
    add(webhooks, terminal);
  }
}
