import { access } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import { keyIds } from "../crypto/seal.ts";
import { db } from "../db.ts";
import { directDatabaseUrl, env } from "../env.ts";
import { holdDeletions } from "../housekeeping/hold-deletions.ts";
import { recordLastBackup } from "../operations/last-backup.ts";
import { beginDump, type DatabaseDump } from "../postgres/copy/dump-database.ts";
import { BackupError } from "./backup-error.ts";
import { findBackup, isSame, MANIFEST, type Manifest } from "./manifest.ts";
import { type BackupPlace, openPlace } from "./place.ts";
import { readAllRefs } from "./refs.ts";
import { forget, listSnapshots, openRepository, type Saved, saveDirectories, saveStream } from "./restic.ts";

type Options = {
  /** A directory, `s3://bucket/prefix`, or another place that restic supports. */
  to: string;
  /** Without a number, all backups are kept. */
  keep?: number | undefined;
  signal?: AbortSignal;
  report?: (step: string) => void;
};

export type CreatedBackup = { id: string; manifest: Manifest; bytes: number; addedBytes: number; removed: number };

const DIRECTORIES = ["repositories", "lfs/objects"];
/** Refs are saved separately. Git creates indexes again, and copied ones might not match the copied packs. */
const EXCLUDED = [
  "repositories/*/*.git/refs",
  "repositories/*/*.git/packed-refs*",
  "repositories/*/*.git/objects/pack/multi-pack-index*",
  "repositories/*/*.git/objects/info/commit-graph*",
  "repositories/*/*.git/objects/*/tmp_*",
  "repositories/*/*.git/objects/*/.tmp-*",
  "repositories/*/*.git/objects/tmp_objdir-*",
  "repositories/*/*.git/objects/incoming-*",
  // A copy is incomplete if one of its files disappears meanwhile, and every commit or push removes such files (S137).
  "repositories/*/*.git/objects/pack/*.keep",
  "repositories/*/*.git/quarantine",
  "*.lock",
];
const COPIES_MAX = 4;

/**
 * The order is database, refs, objects, manifest, so that a backup with a manifest is complete.
 * @throws BackupError
 */
export async function createBackup({ to, keep, signal, report = () => undefined }: Options): Promise<CreatedBackup> {
  const place = openPlace(to);
  await openRepository(place, { mayCreate: true });
  const startedAt = new Date();
  report("waiting for repository maintenance to finish");
  const held = await holdDeletions();
  const stop = AbortSignal.any([held.lost, ...(signal ? [signal] : [])]);
  let made: CreatedBackup;
  try {
    const saved = await saveParts(place, stop, report);
    const manifest: Manifest = {
      format: 1,
      version: packageJson.version,
      origin: env().ORIGIN,
      startedAt: startedAt.toISOString(),
      finishedAt: new Date().toISOString(),
      secretKeys: keyIds(),
      ...saved.described,
    };
    const content = [Buffer.from(JSON.stringify(manifest))];
    const { snapshotId } = await saveStream(place, {
      name: "manifest.json",
      kind: MANIFEST,
      content: asStream(content),
      signal: stop,
    });
    made = { id: snapshotId.slice(0, 8), manifest, removed: 0, ...saved.size };
  } catch (error) {
    if (!held.lost.aborted) throw error;
    throw new BackupError("The database could not be reached for two minutes, so files may be missing. Run the command again.", {
      cause: error,
    });
  } finally {
    await held.release();
  }
  // If git could not read a repository now, an older backup may be the only one with its refs.
  if (keep !== undefined && !made.manifest.unread?.length) {
    report("removing old backups");
    made.removed = await keepNewest(place, keep);
  }
  const finishedAt = new Date();
  await recordLastBackup({
    finishedAt,
    place: place.name,
    addedBytes: made.addedBytes,
    seconds: Math.round((finishedAt.getTime() - startedAt.getTime()) / 1_000),
    unread: made.manifest.unread ?? [],
  });
  await recordAuditEvent(db(), { type: "installation.back_up", data: { place: place.name, backup: made.id } });
  return made;
}

type Parts = {
  described: Pick<Manifest, "parts" | "migrations" | "rows" | "auditHead" | "repositories" | "unread" | "largeFiles">;
  size: { bytes: number; addedBytes: number };
};

async function saveParts(place: BackupPlace, signal: AbortSignal, report: (step: string) => void): Promise<Parts> {
  const rows: Record<string, number> = {};
  const listed = { repositories: 0, unread: [] as string[] };
  const dump = await beginDump(env().DATABASE_OWNER_URL ?? directDatabaseUrl());
  try {
    const ids = (await dump.query<{ id: string }>("select id from repo where platform_id is null order by id")).map(
      ({ id }) => id,
    );
    const found = await readStored(dump);
    report("refs");
    const refs = await saveStream(place, {
      ...{ name: "refs.txt", kind: "refs", signal },
      content: readAllRefs(ids, listed),
    });
    report("database");
    const database = await saveStream(place, { name: "database.sql", kind: "database", signal, content: dump.content(rows) });
    // An open transaction delays vacuum.
    await dump.close();
    report("repositories and large files");
    const files = await saveFiles(place, signal);
    const all = [database, refs, files];
    const sum = (of: (saved: Saved) => number) => all.reduce((total, saved) => total + of(saved), 0);
    return {
      described: {
        parts: { database: database.snapshotId, refs: refs.snapshotId, files: files.snapshotId },
        migrations: dump.migrations,
        ...found,
        rows,
        ...listed,
      },
      size: { bytes: sum(({ bytes }) => bytes), addedBytes: sum(({ addedBytes }) => addedBytes) },
    };
  } finally {
    await dump.close();
  }
}

async function readStored(dump: DatabaseDump): Promise<Pick<Manifest, "auditHead" | "largeFiles">> {
  const [head] = await dump.query<{ seq: string; hash: string }>(
    "select seq::text, encode(hash, 'hex') as hash from audit_seal order by seq desc limit 1",
  );
  const [count] = await dump.query<{ local: number; bucket: number }>(
    `select (count(*) filter (where location like 'local:%'))::int as local, (count(*) filter (where location like 's3:%'))::int as bucket
       from (select location from lfs_object union select location from xet_xorb) as stored`,
  );
  return { auditHead: head ?? null, largeFiles: count ?? { local: 0, bucket: 0 } };
}

async function saveFiles(place: BackupPlace, signal: AbortSignal): Promise<Saved> {
  const { DATA_DIR } = env();
  const names: string[] = [];
  for (const name of DIRECTORIES) if (await isThere(join(DATA_DIR, name))) names.push(name);
  if (names.length === 0)
    return saveStream(place, { name: "empty", kind: "files", content: asStream([Buffer.from("\n")]), signal });
  for (let copy = 1; copy <= COPIES_MAX; copy++) {
    const { isIncomplete, ...saved } = await saveDirectories(place, {
      cwd: DATA_DIR,
      names,
      exclude: EXCLUDED,
      kind: "files",
      signal,
    });
    if (!isIncomplete) return saved;
  }
  throw new BackupError(
    `Some files in ${DATA_DIR} cannot be read, or disappeared during each of ${COPIES_MAX} attempts. Run this command as the user that ` +
      "runs the service, and make sure that no other program deletes files of repositories.",
  );
}

async function keepNewest(place: BackupPlace, keep: number): Promise<number> {
  const backups = await listSnapshots(place, MANIFEST);
  const kept = backups.slice(-keep);
  const parts: string[] = [];
  for (const { id } of kept) parts.push(...Object.values((await findBackup(place, id)).manifest.parts));
  const isKept = (snapshot: { id: string }) =>
    kept.some(({ id }) => id === snapshot.id) || parts.some((part) => isSame(snapshot, part));
  await forget(
    place,
    (await listSnapshots(place)).filter((snapshot) => !isKept(snapshot)).map(({ id }) => id),
  );
  return backups.length - kept.length;
}

async function* asStream(pieces: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  yield* pieces;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
