import { sealAuditEvents } from "../audit/chain/seal-audit-events.ts";
import { type AuditHead, verifyAuditChain } from "../audit/chain/verify-audit-chain.ts";
import { closeConnections } from "../db.ts";
import { directDatabaseUrl, env, loadSettingsFile, provideSettings, SettingsError, secretKey } from "../env.ts";
import { checkTarget, connect, DatabaseCopyError } from "../postgres/copy/check-target.ts";
import { copyDatabase, isInUse } from "../postgres/copy/copy-database.ts";
import { type EmbeddedServer, startEmbedded } from "../postgres/embedded.ts";
import { databaseUrls, prepareSchema } from "../postgres/prepare-schema.ts";
import { dataDir, embeddedSettings, lockDataDir, recordMove, requireNotMoved } from "./data-dir.ts";

export type DatabaseMove = {
  tables: number;
  rows: number;
  auditHead: AuditHead | undefined;
  secretKeyFile: string | undefined;
};

type Options = {
  /** `toOwner` is the new DATABASE_OWNER_URL, if another role owns the database. */
  to: string;
  toOwner?: string | undefined;
  /** False for a copy. After a move, the embedded database must not be started again. */
  isMove: boolean;
  copied?: (table: string, rows: number) => void;
};

/** Verifies the audit log before and after the copy. After an error, the target is empty, unless the copied log is flawed. */
export async function moveDatabase({ to, toOwner, isMove, copied }: Options): Promise<DatabaseMove> {
  loadSettingsFile();
  const targetUrl = toOwner ?? to;
  await requireTarget(targetUrl, to);
  const source = await openSource();
  try {
    const auditHead = await verifySource();
    const { tables, rows } = await copyDatabase({ sourceUrl: source.url, targetUrl, ...(copied && { copied }) });
    await prepareSchema({ url: to, ownerUrl: toOwner });
    provideSettings({ DATABASE_URL: to, DATABASE_OWNER_URL: toOwner ?? "", DATABASE_DIRECT_URL: "" });
    const { flaw } = await verifyAuditChain(auditHead);
    await closeConnections();
    if (flaw)
      throw new DatabaseCopyError(`The audit log was not copied completely (${flaw.kind}). Drop the new database and try again.`);
    if (isMove && source.dataDir !== undefined) recordMove(source.dataDir, to);
    return { tables, rows, auditHead, secretKeyFile: source.secretKeyFile };
  } finally {
    await closeConnections();
    await source.close();
  }
}

async function requireTarget(ownerUrl: string, url: string): Promise<void> {
  const owner = await connect("--to", ownerUrl);
  try {
    await checkTarget(owner);
  } finally {
    await owner.end();
  }
  if (url !== ownerUrl) await (await connect("--to", url)).end();
}

type Source = {
  url: string;
  dataDir?: string;
  secretKeyFile: string | undefined;
  close(): Promise<void>;
};

async function openSource(): Promise<Source> {
  const { DATABASE_URL, DATABASE_OWNER_URL, SECRET_KEY } = env();
  if (DATABASE_URL) {
    secretKey();
    const url = DATABASE_OWNER_URL ?? directDatabaseUrl();
    await requireStopped(url);
    await prepareSchema(databaseUrls());
    return { url, secretKeyFile: undefined, close: async () => undefined };
  }
  const directory = dataDir();
  requireNotMoved(directory);
  const lock = await lockDataDir(directory, "command");
  if (!lock)
    throw new SettingsError(`The service is running on ${directory}. Stop it first: its changes during the copy would be lost.`);
  let server: EmbeddedServer | undefined;
  const close = async () => {
    await server?.stop();
    lock.release();
  };
  try {
    server = await startEmbedded(directory);
    provideSettings(embeddedSettings(directory, server));
    await prepareSchema(server);
    return { url: server.ownerUrl, dataDir: directory, secretKeyFile: SECRET_KEY ? undefined : `${directory}/secret-key`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function requireStopped(url: string): Promise<void> {
  const client = await connect("DATABASE_URL", url);
  try {
    if (await isInUse(client))
      throw new SettingsError(
        "The service is running on DATABASE_URL. Stop all its processes first: their changes during the copy would be lost.",
      );
  } finally {
    await client.end();
  }
}

async function verifySource(): Promise<AuditHead | undefined> {
  while ((await sealAuditEvents({ isWaiting: true })).isMore);
  const { flaw, head } = await verifyAuditChain();
  // The copy would take these connections for a running service.
  await closeConnections();
  if (flaw)
    throw new DatabaseCopyError(
      `The audit log is not intact (${flaw.kind}). Nothing was copied. Run \`npm run admin -- audit verify\` for details.`,
    );
  return head;
}
