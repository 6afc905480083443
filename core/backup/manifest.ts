import { buffer } from "node:stream/consumers";
import type { AppliedMigration } from "../postgres/copy/dump-database.ts";
import { BackupError } from "./backup-error.ts";
import type { BackupPlace } from "./place.ts";
import { listSnapshots, readFile, type Snapshot } from "./restic.ts";

export type Manifest = {
  format: 1;
  version: string;
  origin: string;
  startedAt: string;
  finishedAt: string;
  parts: { database: string; refs: string; files: string };
  migrations: AppliedMigration[];
  rows: Record<string, number>;
  auditHead: { seq: string; hash: string } | null;
  repositories: number;
  /** Git could not list the refs of these repositories. Older manifests lack this field. */
  unread?: string[];
  /** A backup does not contain the large files in a bucket. */
  largeFiles: { local: number; bucket: number };
  /** The IDs of keys, which reveal nothing about the keys. The first key is the one that encrypts. */
  secretKeys: string[];
};

export type Backup = { id: string; manifest: Manifest };

export const MANIFEST = "manifest";
const FILE = "/manifest.json";

export async function listBackups(place: BackupPlace): Promise<Backup[]> {
  const backups: Backup[] = [];
  for (const snapshot of await listSnapshots(place, MANIFEST)) backups.push(await readManifest(place, snapshot));
  return backups;
}

export async function findBackup(place: BackupPlace, id?: string): Promise<Backup> {
  const snapshots = await listSnapshots(place, MANIFEST);
  const found = id === undefined ? snapshots.at(-1) : snapshots.find((snapshot) => isSame(snapshot, id));
  if (!found) {
    throw new BackupError(
      id === undefined
        ? `There is no complete backup at ${place.name}.`
        : `There is no backup ${id} at ${place.name}. Run \`backup list\` to see which backups exist.`,
    );
  }
  const backup = await readManifest(place, found);
  const all = await listSnapshots(place);
  const lost = Object.entries(backup.manifest.parts).find(([, part]) => !all.some((snapshot) => isSame(snapshot, part)));
  if (lost)
    throw new BackupError(`The backup ${backup.id} is damaged: a part of it (${lost[0]}) is missing. Use another backup.`);
  return backup;
}

async function readManifest(place: BackupPlace, { id }: Snapshot): Promise<Backup> {
  const manifest = JSON.parse((await buffer(readFile(place, id, FILE))).toString()) as Manifest;
  if (manifest.format !== 1)
    throw new BackupError("A newer version of the service created this backup. Use that version or a later one.");
  return { id: id.slice(0, 8), manifest };
}

export const isSame = ({ id }: Pick<Snapshot, "id">, shortId: string): boolean => shortId.length >= 8 && id.startsWith(shortId);
