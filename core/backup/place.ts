import { isAbsolute, relative, resolve } from "node:path";
import { childEnvironment, env } from "../env.ts";
import { BackupError } from "./backup-error.ts";

export type BackupPlace = {
  name: string;
  environment: NodeJS.ProcessEnv;
};

/** Restic reads the credentials of these places from environment variables. */
const RESTIC_SCHEME = /^(sftp|rest|rclone|b2|azure|gs|swift):/;

export function openPlace(text: string): BackupPlace {
  const { BACKUP_PASSWORD, BACKUP_S3_ACCESS_KEY_ID = "", BACKUP_S3_SECRET_ACCESS_KEY = "", BACKUP_S3_REGION, DATA_DIR } = env();
  if (!BACKUP_PASSWORD) {
    throw new BackupError(
      "BACKUP_PASSWORD is not set: backups are encrypted with it. `openssl rand -base64 48` generates one. Keep a copy of it elsewhere, " +
        "together with SECRET_KEY: neither is in the backup, and a backup is useless unless you have both.",
    );
  }
  const { repository, isS3 } = repositoryOf(text);
  return {
    name: text.split("/").map(hidePassword).join("/"),
    environment: childEnvironment({
      RESTIC_REPOSITORY: repository,
      RESTIC_PASSWORD: BACKUP_PASSWORD,
      RESTIC_CACHE_DIR: resolve(DATA_DIR, "backup-cache"),
      // Restic reports once a minute, because each report is a line of output.
      RESTIC_PROGRESS_FPS: "0.0167",
      ...(isS3 && {
        AWS_ACCESS_KEY_ID: BACKUP_S3_ACCESS_KEY_ID,
        AWS_SECRET_ACCESS_KEY: BACKUP_S3_SECRET_ACCESS_KEY,
        AWS_DEFAULT_REGION: BACKUP_S3_REGION,
      }),
    }),
  };
}

function hidePassword(part: string): string {
  const [begin, end] = [part.indexOf(":") + 1, part.lastIndexOf("@")];
  return begin > 0 && end > begin ? `${part.slice(0, begin)}…${part.slice(end)}` : part;
}

function repositoryOf(text: string): { repository: string; isS3: boolean } {
  if (RESTIC_SCHEME.test(text)) return { repository: text, isS3: false };
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)(\/.*)?$/.exec(text) ?? [];
  if (bucket) {
    const { BACKUP_S3_ENDPOINT, BACKUP_S3_REGION, BACKUP_S3_ACCESS_KEY_ID, BACKUP_S3_SECRET_ACCESS_KEY } = env();
    if (!BACKUP_S3_ACCESS_KEY_ID || !BACKUP_S3_SECRET_ACCESS_KEY) {
      throw new BackupError("A backup in a bucket needs BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.");
    }
    const endpoint = BACKUP_S3_ENDPOINT ?? `https://s3.${BACKUP_S3_REGION}.amazonaws.com`;
    return { repository: `s3:${endpoint.replace(/\/$/, "")}/${bucket}${prefix}`, isS3: true };
  }
  if (/^\w+:/.test(text)) {
    throw new BackupError(`${text} is not a place for backups. Use a directory, s3://bucket/prefix, or sftp:user@host:/path.`);
  }
  const directory = resolve(text);
  const inside = relative(env().DATA_DIR, directory);
  if (inside === "" || (!inside.startsWith("..") && !isAbsolute(inside))) {
    throw new BackupError(`${directory} is in DATA_DIR: the backup would be lost with it. Choose a directory on another disk.`);
  }
  return { repository: directory, isS3: false };
}
