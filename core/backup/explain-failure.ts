import { BackupError, NoBackupYet } from "./backup-error.ts";
import type { BackupPlace } from "./place.ts";

type Ended = { stderr: string; problem?: NodeJS.ErrnoException | undefined };
type Explanation = [pattern: RegExp, sentence: (name: string) => string, Kind?: typeof BackupError];

const explanations: readonly Explanation[] = [
  [
    /Access Denied|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|403 Forbidden/,
    (name) =>
      `${name} refuses access. Check the BACKUP_S3 settings, and make sure that the key may list, read, write and delete there.`,
  ],
  [/permission denied/i, (name) => `${name} cannot be read or written. Give the user that runs this command access to it.`],
  [
    /connection refused|no such host|i\/o timeout|network is unreachable|dial tcp/i,
    (name) =>
      `${name} cannot be reached. Check the address, and run the command again. A backup does not copy again what is already stored.`,
  ],
  [
    /Is there a repository at the following location|unable to open config file/,
    (name) => `There is no backup at ${name}.`,
    NoBackupYet,
  ],
  [
    /wrong password or no key found/,
    (name) => `BACKUP_PASSWORD does not open the backups at ${name}. Set the password that they were created with.`,
  ],
  [
    /no space left on device|disk quota exceeded/i,
    (name) =>
      `There is no space left at ${name}, or for temporary files. Complete backups are not affected. Free some space, or keep ` +
      "fewer backups (--keep), and run the command again: it does not copy again what is already stored.",
  ],
  [/repository is already locked/, (name) => `Another program is using the backups at ${name}. Try again when it has finished.`],
  [
    /ciphertext verification failed|invalid data returned|does not match id|hash mismatch|has wrong hash|damaged|contains errors|errors were found|not found in (?:index|repo)|load\(<data|unexpected EOF|file does not exist|no such file|The specified key does not exist/i,
    (name) =>
      `The backups at ${name} are damaged: something there is missing or was changed. Do not rely on them: create a new backup in ` +
      "another place now. Parts may still be readable: `backup list` shows all backups, and `restic check` shows what is damaged.",
  ],
];

export function explainFailure({ name }: BackupPlace, { stderr, problem }: Ended): BackupError {
  if (problem?.code === "ENOENT") {
    return new BackupError("The program restic is not installed; it encrypts and stores backups. Run: apt-get install restic");
  }
  if (problem?.name === "AbortError") return new BackupError("The backup was stopped. Run the command again to continue it.");
  const cause = { cause: problem ?? new Error(stderr.trim()) };
  const output = stderr.trim().split("\n").slice(-3).join("\n");
  const known = explanations.find(([pattern]) => pattern.test(stderr));
  if (!known) return new BackupError(`restic failed at ${name}: ${output || (problem?.message ?? "it was stopped")}`, cause);
  const [, sentence, Kind = BackupError] = known;
  return new Kind(Kind === NoBackupYet ? sentence(name) : `${sentence(name)}\n${output}`, cause);
}
