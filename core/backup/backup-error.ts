export class BackupError extends Error {
  override name = "BackupError";
}

export class NoBackupYet extends BackupError {}
