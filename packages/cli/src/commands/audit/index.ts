import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addAuditExportCommand } from "./export.ts";

export function addAuditCommands(program: Command, terminal: Terminal): void {
  const audit = program.command("audit").description("audit logs of organizations");
  addAuditExportCommand(audit, terminal);
}
