/** A backup or a restore cannot continue; the message is for the operator's terminal, and says what to do. */
export class BackupError extends Error {
  override name = "BackupError";
}

/** There is no backup at a place yet. */
export class NoBackupYet extends BackupError {}
