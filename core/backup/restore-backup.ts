import { createWriteStream } from "node:fs";
import { access, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { verifyAuditChain } from "../audit/chain/verify-audit-chain.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import { closeConnections, db } from "../db.ts";
import { directDatabaseUrl, env, provideSettings, SettingsError } from "../env.ts";
import { dataDir, embeddedSettings, lockDataDir, provideGeneratedKey, requireNotMoved } from "../instance/data-dir.ts";
import { loadDatabase, requireEmptyDatabase } from "../postgres/copy/load-database.ts";
import { readDump } from "../postgres/copy/read-dump.ts";
import { startEmbedded } from "../postgres/embedded.ts";
import { prepareSchema } from "../postgres/prepare-schema.ts";
import { BackupError } from "./backup-error.ts";
import { requireSecretKey } from "./check-database.ts";
import { findBackup, type Manifest } from "./manifest.ts";
import { type BackupPlace, openPlace } from "./place.ts";
import { parseAllRefs } from "./refs.ts";
import { openRepository, readFile, restoreDirectories } from "./restic.ts";

type Options = {
  from: string;
  id?: string | undefined;
  report?: (step: string) => void;
};

export type RestoredBackup = { id: string; manifest: Manifest; leftOut: string[]; auditFlaw: string | undefined };

const CONTENTS = ["repositories", "lfs", "outbox"];

/** The database is committed last, so that the command can run again after an interruption. */
export async function restoreBackup({ from, id, report = () => undefined }: Options): Promise<RestoredBackup> {
  provideGeneratedKey();
  const place = openPlace(from);
  await openRepository(place, { mayCreate: false });
  const { id: found, manifest } = await findBackup(place, id);
  requireSecretKey(manifest);
  const target = await openTarget();
  try {
    report("repositories and large files");
    const unfinished = join(env().DATA_DIR, "restore-unfinished");
    await rm(unfinished, { recursive: true, force: true });
    await restoreDirectories(place, manifest.parts.files, unfinished);
    await restoreRefs(place, manifest, unfinished);
    report("database");
    const leftOut = await loadDatabase({
      url: target.ownerUrl,
      name: target.name,
      migrations: manifest.migrations,
      rows: manifest.rows,
      parts: readDump(readFile(place, manifest.parts.database, "/database.sql")),
      beforeCommit: () => moveInto(unfinished),
    });
    await prepareSchema({ url: target.url, ownerUrl: target.ownerUrl });
    report("audit log");
    const { auditHead } = manifest;
    const { flaw } = await verifyAuditChain(auditHead ? { seq: BigInt(auditHead.seq), hash: auditHead.hash } : undefined);
    await recordAuditEvent(db(), { type: "installation.restore", data: { startedAt: manifest.startedAt, backup: found } });
    return { id: found, manifest, leftOut, auditFlaw: flaw?.kind };
  } finally {
    await closeConnections();
    await target.close();
  }
}

type Target = { url: string; ownerUrl: string; name: string; close(): Promise<void> };

async function openTarget(): Promise<Target> {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATABASE_OWNER_URL } = env();
  const directory = dataDir();
  await requireEmptyDirectory(directory);
  if (DATABASE_URL) {
    const url = directDatabaseUrl();
    const target = { url, ownerUrl: DATABASE_OWNER_URL ?? url };
    const name = DATABASE_OWNER_URL ? "DATABASE_OWNER_URL" : DATABASE_DIRECT_URL ? "DATABASE_DIRECT_URL" : "DATABASE_URL";
    await requireEmptyDatabase(name, target.ownerUrl);
    return { ...target, name, close: async () => undefined };
  }
  requireNotMoved(directory);
  const lock = await lockDataDir(directory, "command");
  if (!lock)
    throw new SettingsError(`The service is running on ${directory}. Restore into an installation that has never been started.`);
  const server = await startEmbedded(directory).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const close = async () => {
    await server.stop();
    lock.release();
  };
  try {
    provideSettings(embeddedSettings(directory, server));
    const name = `the database in ${directory}/postgres`;
    await requireEmptyDatabase(name, server.ownerUrl);
    return { url: server.url, ownerUrl: server.ownerUrl, name, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function requireEmptyDirectory(directory: string): Promise<void> {
  for (const name of CONTENTS) {
    const names = await readdir(join(directory, name)).catch(() => []);
    if (names.length === 0) continue;
    throw new BackupError(
      `${directory} is not empty: it contains ${name}. A backup can only be restored into an empty installation, with an empty database ` +
        `and an empty DATA_DIR (or one with secret-key alone). If an interrupted restore left ${name}, move it away and run the command again.`,
    );
  }
}

/** Removes the repositories that are newer than the backup's database: they are neither in the list of refs nor `unread`. */
async function restoreRefs(place: BackupPlace, { parts, unread = [] }: Manifest, unfinished: string): Promise<void> {
  const known = new Set<string>();
  const open = async (path: string) => {
    for (const name of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
      await mkdir(join(path, name), { recursive: true });
  };
  for await (const { id, refs } of parseAllRefs(readFile(place, parts.refs, "/refs.txt"))) {
    const path = join(unfinished, "repositories", id.slice(-2), `${id}.git`);
    if (!(await isThere(join(path, "HEAD"))))
      throw new BackupError(`The backup is damaged: the repository ${id} is missing. Use another backup.`);
    known.add(`${id}.git`);
    await open(path);
    const lines = (function* () {
      yield "# pack-refs with: sorted \n";
      for (const { name, sha } of refs) yield `${sha} ${name}\n`;
    })();
    await pipeline(Readable.from(lines), createWriteStream(join(path, "packed-refs"), { flush: true }));
  }
  const folders = join(unfinished, "repositories");
  // These repositories are restored without refs. `git fsck --lost-found` finds their commits.
  for (const id of unread) {
    const path = join(folders, id.slice(-2), `${id}.git`);
    if (!(await isThere(join(path, "HEAD")))) continue;
    known.add(`${id}.git`);
    await open(path);
  }
  for (const folder of await readdir(folders).catch(() => []))
    for (const name of await readdir(join(folders, folder)))
      if (!known.has(name)) await rm(join(folders, folder, name), { recursive: true, force: true });
}

async function moveInto(unfinished: string): Promise<void> {
  const { DATA_DIR } = env();
  for (const name of CONTENTS) {
    if (!(await isThere(join(unfinished, name)))) continue;
    await rm(join(DATA_DIR, name), { recursive: true, force: true }); // empty, as was checked
    await rename(join(unfinished, name), join(DATA_DIR, name));
  }
  await rm(unfinished, { recursive: true, force: true });
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
