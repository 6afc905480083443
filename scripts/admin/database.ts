import { provideSettings } from "#core/env.ts";
import { type DatabaseMove, moveDatabase } from "#core/instance/move-database.ts";
import { command, type Outcome, UsageError } from "./command.ts";
import { loadSettings } from "./load-settings.ts";
import { readSecret } from "./option-values.ts";
import { withInstance } from "./run-command.ts";

const options = {
  to: {
    value: "URL",
    help: "postgres://… of an empty database, which becomes DATABASE_URL; - reads it from standard input",
    isRequired: true,
  },
  "to-owner": { value: "URL", help: "the same database, but with the role that owns it; becomes DATABASE_OWNER_URL" },
} as const;

const notes = [
  "Stop the service first. If the copy is interrupted, the new database stays empty. Rows are counted and hashed on both sides, and",
  "the audit log is verified in the copy. Repositories and large files stay in DATA_DIR or the bucket.",
];

const databaseMove = command({
  name: "database move",
  summary: "Moves the data to another PostgreSQL server, for example from the embedded one, and prints the new settings.",
  notes,
  options,
  opensInstance: false,
  run: (values) => copyTo({ ...values, isMove: true }),
});

const databaseCopy = command({
  name: "database copy",
  summary: "Copies the data as database move does, but for a trial: the service keeps its own database.",
  notes,
  options,
  opensInstance: false,
  run: (values) => copyTo({ ...values, isMove: false }),
});

const databaseMigrate = command({
  name: "database migrate",
  summary: "Migrates the database to this version's schema, before processes of this version start.",
  options: {},
  opensInstance: false,
  async run() {
    await withInstance(async () => undefined);
    return { json: { migrated: true }, text: "The database has this version's schema." };
  },
});

async function copyTo(values: { to: string; "to-owner": string | undefined; isMove: boolean }): Promise<Outcome> {
  const to = postgresUrl("--to", await readSecret(values.to));
  const toOwner = values["to-owner"] === undefined ? undefined : postgresUrl("--to-owner", values["to-owner"]);
  loadSettings();
  provideSettings({ LOG_LEVEL: "silent" });
  const moved = await moveDatabase({ to, toOwner, isMove: values.isMove, copied: reportCopied });
  const { tables, rows, auditHead, secretKeyFile } = moved;
  return {
    json: {
      tables,
      rows,
      audit_head: auditHead ? `${auditHead.seq}:${auditHead.hash}` : null,
      secret_key_file: secretKeyFile ?? null,
    },
    text: describeCopy(moved, { to, toOwner, isMove: values.isMove }),
  };
}

function postgresUrl(option: string, text: string): string {
  const url = URL.parse(text);
  if (url && /^postgres(ql)?:$/.test(url.protocol) && url.hostname && url.pathname.length > 1) return text;
  throw new UsageError(`${option} must be a URL such as postgres://keyhook:password@db.example.com/keyhook.`);
}

function reportCopied(table: string, rows: number): void {
  if (rows > 0 && process.stderr.isTTY) process.stderr.write(`${table}: ${rows.toLocaleString("en")} rows\n`);
}

function describeCopy({ tables, rows, auditHead, secretKeyFile }: DatabaseMove, { to, toOwner, isMove }: DescribedCopy): string {
  return [
    `${rows.toLocaleString("en")} rows of ${tables} tables were copied, counted and compared; the audit log is intact.`,
    auditHead && `Its head: ${auditHead.seq}:${auditHead.hash}`,
    "",
    isMove
      ? "Start the service with these settings and its current DATA_DIR:"
      : "To try the copy, start the service with these settings and a copy of DATA_DIR:",
    `  DATABASE_URL=${withoutPassword(to)}`,
    toOwner && `  DATABASE_OWNER_URL=${withoutPassword(toOwner)}`,
    secretKeyFile ? `  SECRET_KEY=…  the content of ${secretKeyFile}` : "  SECRET_KEY=…  unchanged",
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

type DescribedCopy = { to: string; toOwner: string | undefined; isMove: boolean };

function withoutPassword(text: string): string {
  const url = new URL(text);
  if (url.password) url.password = "…";
  return decodeURI(url.href);
}

export const databaseCommands = [databaseMigrate, databaseMove, databaseCopy];
