import { db } from "../db.ts";

const KEY = "last_backup";
const LATE_MS = 3 * 24 * 3600_000;

export type LastBackup = {
  finishedAt: Date;
  place: string;
  addedBytes: number;
  seconds: number;
  /** Git could not list the refs of these repositories. Records of older versions lack this field. */
  unread?: string[];
};

export async function recordLastBackup({ finishedAt, ...rest }: LastBackup): Promise<void> {
  const value = { ...rest, finishedAt: finishedAt.toISOString() };
  await db().setting.upsert({ where: { key: KEY }, create: { key: KEY, value }, update: { value, updatedAt: new Date() } });
}

export async function readLastBackup(): Promise<LastBackup | undefined> {
  const stored = (await db().setting.findUnique({ where: { key: KEY } }))?.value;
  if (!stored) return undefined;
  const { finishedAt, ...rest } = stored as Omit<LastBackup, "finishedAt"> & { finishedAt: string };
  return { ...rest, finishedAt: new Date(finishedAt) };
}

export const isBackupLate = ({ finishedAt }: LastBackup, now = new Date()): boolean =>
  now.getTime() - finishedAt.getTime() > LATE_MS;
