import { provideSettings } from "#core/env.ts";
import { type DatabaseMove, moveDatabase } from "#core/instance/move-database.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { command, type Outcome, UsageError } from "./command.ts";
import { readSecret } from "./read-secret.ts";

const options = {
  to: {
    value: "URL",
    help: "postgres://… of an empty database, which becomes DATABASE_URL; - reads it from standard input",
    isRequired: true,
  },
  "to-owner": { value: "URL", help: "the same database as the role that owns it, which becomes DATABASE_OWNER_URL" },
} as const;

const notes = [
  "Stop the service first. Whatever cuts the copy short leaves the new database empty. Rows are counted and hashed on both sides, and",
  "the audit log is verified there. Repositories and large files stay where they are, in DATA_DIR or the bucket.",
];

export const databaseMove = command({
  name: "database move",
  summary: "Moves everything to another PostgreSQL, from the embedded one say, and prints the settings to make.",
  notes,
  options,
  opensInstance: false,
  run: (values) => copyTo({ ...values, isMove: true }),
});

export const databaseCopy = command({
  name: "database copy",
  summary: "Does the same for a trial: the service goes on with what it has.",
  notes,
  options,
  opensInstance: false,
  run: (values) => copyTo({ ...values, isMove: false }),
});

export const databaseMigrate = command({
  name: "database migrate",
  summary: "Brings the database to this version's schema, before processes of this version start.",
  options: {},
  opensInstance: false,
  async run() {
    await (await openInstance()).close();
    return { json: { migrated: true }, text: "The database has this version's schema." };
  },
});

async function copyTo(values: { to: string; "to-owner": string | undefined; isMove: boolean }): Promise<Outcome> {
  const to = postgresUrl("--to", await readSecret(values.to));
  const toOwner = values["to-owner"] === undefined ? undefined : postgresUrl("--to-owner", values["to-owner"]);
  provideSettings({ LOG_LEVEL: "silent" });
  const moved = await moveDatabase({ to, toOwner, isMove: values.isMove, copied: sayCopied });
  const { tables, rows, auditHead, secretKeyFile } = moved;
  return {
    json: {
      tables,
      rows,
      audit_head: auditHead ? `${auditHead.seq}:${auditHead.hash}` : null,
      secret_key_file: secretKeyFile ?? null,
    },
    text: spoken(moved, { to, toOwner, isMove: values.isMove }),
  };
}

function postgresUrl(option: string, text: string): string {
  const url = URL.parse(text);
  if (url && /^postgres(ql)?:$/.test(url.protocol) && url.hostname && url.pathname.length > 1) return text;
  throw new UsageError(`${option} must be a URL such as postgres://keyhook:password@db.example.com/keyhook.`);
}

/** For whoever waits; not in tests and pipes. */
function sayCopied(table: string, rows: number): void {
  if (rows > 0 && process.stderr.isTTY) process.stderr.write(`${table}: ${rows.toLocaleString("en")} rows\n`);
}

function spoken({ tables, rows, auditHead, secretKeyFile }: DatabaseMove, { to, toOwner, isMove }: DescribedCopy): string {
  return [
    `${rows.toLocaleString("en")} rows of ${tables} tables are there, counted and compared; the audit log is whole.`,
    auditHead && `Its head: ${auditHead.seq}:${auditHead.hash}`,
    "",
    isMove ? "Start the service with these settings, and with the DATA_DIR that it has:" : "To try it, with a copy of DATA_DIR:",
    `  DATABASE_URL=${withoutPassword(to)}`,
    toOwner && `  DATABASE_OWNER_URL=${withoutPassword(toOwner)}`,
    secretKeyFile ? `  SECRET_KEY=…  what ${secretKeyFile} has` : "  SECRET_KEY=…  as it is now",
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
