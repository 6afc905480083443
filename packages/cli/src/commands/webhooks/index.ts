import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addActivityCommand, addDeliveryCommand, addReplayCommand, addTestCommand } from "./deliveries.ts";
import { addListenCommand } from "./listen.ts";
import {
  addCreateCommand,
  addDeleteCommand,
  addDisableCommand,
  addEnableCommand,
  addInfoCommand,
  addLsCommand,
  addUpdateCommand,
} from "./manage.ts";

export function addWebhooksCommands(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command("webhooks")
    .description("webhooks: what they watch, where they send events, and their deliveries");
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
