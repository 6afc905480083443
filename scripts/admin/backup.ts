import { createBackup } from "#core/backup/create-backup.ts";
import { type Backup, listBackups } from "#core/backup/manifest.ts";
import { openPlace } from "#core/backup/place.ts";
import { openRepository } from "#core/backup/restic.ts";
import { restoreBackup } from "#core/backup/restore-backup.ts";
import { verifyBackup } from "#core/backup/verify-backup.ts";
import { counted } from "#core/counted.ts";
import { provideSettings } from "#core/env.ts";
import { readableSize } from "#core/readable-size.ts";
import { command, listed, UsageError } from "./command.ts";
import { loadSettings } from "./load-settings.ts";

const place = "DIR|s3://BUCKET/PREFIX";
const from = { value: place, help: "where the backups are", isRequired: true } as const;
const backupId = { value: "ID", help: "a backup from `backup list`; by default the newest" } as const;

const backup = command({
  name: "backup",
  summary:
    "Backs up the database, repositories and large files (not those in a bucket) while the service runs, encrypted with BACKUP_PASSWORD.",
  notes: [
    "SECRET_KEY and BACKUP_PASSWORD are not in the backup: keep both elsewhere. Only data that is not yet at --to is copied. An",
    "interrupted backup continues at the next run, and is not used until it is complete. The program restic is required.",
  ],
  options: {
    to: { value: place, help: "a directory, a bucket, or a repository that restic knows, such as sftp:…", isRequired: true },
    keep: { value: "N", help: "keep only the newest N backups there, and delete the others" },
  },
  async run({ to, keep }) {
    if (keep !== undefined && !/^[1-9]\d{0,3}$/.test(keep)) throw new UsageError("--keep must be a whole number, 1 or more.");
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    process.once("SIGINT", stop).once("SIGTERM", stop);
    try {
      const made = await createBackup({
        to,
        keep: keep === undefined ? undefined : Number(keep),
        signal: stopping.signal,
        report,
      });
      const { id, manifest, bytes, addedBytes, removed } = made;
      const isFailure = notRead(manifest).length > 0;
      return {
        json: { ...described({ id, manifest }), bytes, added_bytes: addedBytes, removed },
        text: [
          ...notRead(manifest),
          `Backup ${id} of ${readableSize(bytes)} is complete${isFailure ? " except for that" : ""}: ${contents(manifest)}.`,
          `New data: ${readableSize(addedBytes)}.${removed > 0 ? ` Deleted ${counted(removed, "older backup")}.` : ""}`,
          ...inBucket(manifest.largeFiles.bucket),
          "SECRET_KEY and BACKUP_PASSWORD are not in it: keep copies of both elsewhere, or it cannot be restored.",
        ].join("\n"),
        isFailure,
      };
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    }
  },
});

const backupList = command({
  name: "backup list",
  summary: "Lists the complete backups at a place, oldest first.",
  options: { from },
  opensInstance: false,
  async run({ from }) {
    quietly();
    const opened = openPlace(from);
    await openRepository(opened, { mayCreate: false });
    const backups = await listBackups(opened);
    const rows = backups.map(({ id, manifest }) => [id, manifest.startedAt, manifest.version, manifest.origin]);
    return listed({ backups: backups.map(described) }, rows);
  },
});

const backupVerify = command({
  name: "backup verify",
  summary: "Checks that nothing at a place is missing or was changed, and that a backup can be restored with this SECRET_KEY.",
  notes: [
    "It reads everything that is stored there. With --quick, it reads only the database, and checks that nothing else is missing.",
  ],
  options: { from, backup: backupId, quick: { help: "do not read all data" } },
  opensInstance: false,
  async run({ from, backup, quick }) {
    quietly();
    const { id, manifest, database, missingFiles, missingRepositories } = await verifyBackup({
      from,
      id: backup,
      isQuick: quick,
      report,
    });
    const missing = [
      ...missingFiles.map((file) => `MISSING large file ${file.replace("local:", "")}`),
      ...missingRepositories.map((repository) => `MISSING repository ${repository}`),
    ];
    const isFailure = missing.length > 0 || database.unreadable > 0;
    return {
      json: {
        ok: !isFailure,
        ...described({ id, manifest }),
        ...database,
        missing_files: missingFiles,
        missing_repositories: missingRepositories,
      },
      text: [
        ...missing,
        `Backup ${id} of ${manifest.startedAt}: ${counted(database.rows, "row")}, ${contents(manifest)}.`,
        ...inBucket(manifest.largeFiles.bucket),
        database.unreadable === 0
          ? `SECRET_KEY decrypts every stored secret (${database.secrets}).`
          : `${database.unreadable} of ${database.secrets} stored secrets cannot be decrypted. Set SECRET_KEY to the key that the service used then, and SECRET_KEY_PREVIOUS too if the key was being rotated.`,
        missing.length > 0
          ? "The backup is not complete. Create a new one."
          : quick
            ? "Everything is there."
            : "Everything is there, and unchanged.",
      ].join("\n"),
      isFailure,
    };
  },
});

const restore = command({
  name: "restore",
  summary: "Restores a backup into an empty installation: an empty database and an empty DATA_DIR.",
  notes: [
    "Set SECRET_KEY to the key that the service used, or put the key's file into DATA_DIR, and set BACKUP_PASSWORD. Do not start the service",
    "first. Deliveries that were waiting at the time of the backup are sent again.",
  ],
  options: { from, backup: backupId },
  opensInstance: false,
  async run({ from, backup }) {
    quietly();
    const { id, manifest, leftOut, auditFlaw } = await restoreBackup({ from, id: backup, report });
    return {
      json: { ...described({ id, manifest }), left_out: leftOut, audit_flaw: auditFlaw ?? null },
      text: [
        ...notRead(manifest),
        `Backup ${id} of ${manifest.startedAt} was restored: ${contents(manifest)}.`,
        ...inBucket(manifest.largeFiles.bucket),
        leftOut.length > 0 && `Tables that are not the service's were left out: ${leftOut.join(", ")}.`,
        auditFlaw
          ? `The audit log is BROKEN (${auditFlaw}). Run: npm run --silent admin -- audit verify`
          : "The audit log is intact.",
        "Start the service, and run: npm run --silent admin -- doctor",
      ]
        .filter((line) => line !== false)
        .join("\n"),
      isFailure: auditFlaw !== undefined,
    };
  },
});

const notRead = ({ unread = [] }: Backup["manifest"]): string[] =>
  unread.map(
    (id) => `NOT READ: git could not list the branches and tags of the repository ${id}. Only its objects are in the backup.`,
  );

function described({ id, manifest }: Backup): Record<string, unknown> {
  const { startedAt, finishedAt, version, origin, repositories, unread = [], largeFiles, auditHead } = manifest;
  return {
    id,
    started_at: startedAt,
    finished_at: finishedAt,
    version,
    origin,
    repositories,
    unread_repositories: unread,
    large_files: largeFiles.local,
    large_files_in_bucket: largeFiles.bucket,
    audit_head: auditHead ? `${auditHead.seq}:${auditHead.hash}` : null,
  };
}

function quietly(): void {
  loadSettings();
  provideSettings({ LOG_LEVEL: "silent" });
}

const contents = ({ repositories, largeFiles }: Backup["manifest"]): string =>
  `${counted(repositories, "repository", "repositories")}, ${counted(largeFiles.local, "large file")}`;

const inBucket = (count: number): string[] =>
  count > 0
    ? [
        `Not in the backup: ${counted(count, "large file")} in the bucket of LFS_S3_BUCKET. Protect that bucket (docs/operations.md).`,
      ]
    : [];

function report(step: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${step} …\n`);
}

export const backupCommands = [backupList, backupVerify, backup];
export const restoreCommands = [restore];
