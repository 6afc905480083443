import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { actionOf, type Context } from "../context.ts";
import { Refused } from "../errors.ts";
import { oneOf, time } from "../options.ts";
import { visibleLines } from "../output/printer.ts";
import type { Terminal } from "../terminal.ts";

export function addAuditCommands(program: Command, terminal: Terminal): void {
  const audit = program.command("audit").description("audit logs of organizations");
  addAuditExportCommand(audit, terminal);
}

const kinds = ["jsonl", "csv", "json"] as const;
type Options = {
  format?: (typeof kinds)[number];
  json?: boolean;
  since?: string;
  until?: string;
  query?: string;
  output?: string;
};

function addAuditExportCommand(audit: Command, terminal: Terminal): void {
  audit
    .command("export")
    .description("export an organization's audit log, newest entries first (administrators only)")
    .argument("<organization>", "the organization's handle")
    .option("--format <kind>", `${kinds.join(", ")}; jsonl by default`, oneOf(kinds))
    .option("--since <time>", "only entries since a time, or from a recent period such as 7d", time)
    .option("--until <time>", "only entries before a time", time)
    .option("--query <search>", "a search as on the log's page: author:mara type:oauth_app.*")
    .option("-o, --output <file>", "write to a file instead of standard output")
    .action(actionOf(terminal, exportAuditLog));
}

async function exportAuditLog(at: Context, options: Options, organization: string): Promise<void> {
  const { json, format = json ? "json" : "jsonl", since, until, query, output } = options;
  const q = [since && `since:${since}`, until && `until:${until}`, query].filter(Boolean).join(" ");
  const chunks = (await at.client()).auditLog.export(organization, { format, ...(q && { q }), signal: at.signal });
  if (output === undefined) return write(at, chunks);
  const spinner = at.spin(`Writing ${output}`);
  // Writes the whole log or nothing, because a log that was cut off looks complete.
  const temporary = `${output}.${randomBytes(4).toString("hex")}.part`;
  try {
    await pipeline(Readable.from(chunks), createWriteStream(temporary, { mode: 0o600, flags: "wx" }));
    await rename(temporary, output);
  } catch (error) {
    await rm(temporary, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall) throw new Refused(`${output} cannot be written (${code}). Choose another file.`);
    throw error;
  } finally {
    spinner.stop();
  }
  at.print.note(`Written to ${output}`);
}

async function write({ terminal }: Context, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    // A terminal would obey escape sequences in names. Programs get the unchanged bytes.
    const shown = terminal.stdout.isTTY ? visibleLines(decoder.decode(chunk, { stream: true })) : chunk;
    if (!terminal.stdout.write(shown)) await new Promise<void>((drained) => terminal.stdout.once("drain", drained));
  }
}
