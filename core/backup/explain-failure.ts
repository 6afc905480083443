import { BackupError, NothingThere } from "./backup-error.ts";
import type { BackupPlace } from "./place.ts";

type Ended = { stderr: string; problem?: NodeJS.ErrnoException | undefined };
type Explanation = [pattern: RegExp, sentence: (name: string) => string, Kind?: typeof BackupError];

/** What restic says when it fails, and what the operator can do. The first that matches counts. */
const explanations: readonly Explanation[] = [
  [
    /Access Denied|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|403 Forbidden/,
    (name) => `${name} refuses access. Check the BACKUP_S3 settings, and that their key may list, read, write and delete there.`,
  ],
  [/permission denied/i, (name) => `${name} cannot be read or written. Give the user of this command access to it.`],
  [
    /connection refused|no such host|i\/o timeout|network is unreachable|dial tcp/i,
    (name) => `${name} cannot be reached. Check the address, and try again: the command continues with what is stored already.`,
  ],
  [
    /Is there a repository at the following location|unable to open config file/,
    (name) => `There is no backup at ${name}.`,
    NothingThere,
  ],
  [
    /wrong password or no key found/,
    (name) => `BACKUP_PASSWORD does not open the backups at ${name}. Set the password that was set when they were made.`,
  ],
  [
    /no space left on device|disk quota exceeded/i,
    (name) =>
      `There is no space left at ${name}, or for temporary files. Nothing that was complete is lost. Free some space, or keep fewer ` +
      "backups (--keep), and run the command again: it continues with what is stored already.",
  ],
  [
    /repository is already locked/,
    (name) => `Another program is working on the backups at ${name}. Try again when it has ended.`,
  ],
  [
    /ciphertext verification failed|invalid data returned|does not match id|hash mismatch|has wrong hash|damaged|contains errors|errors were found|not found in (?:index|repo)|load\(<data|unexpected EOF|file does not exist|no such file|The specified key does not exist/i,
    (name) =>
      `The backups at ${name} are damaged: something there is missing or was changed. Do not rely on them: make a new backup at another ` +
      "place now. Parts may still be readable: `backup list` shows all backups, and `restic check` what is damaged.",
  ],
];

export function explainFailure({ name }: BackupPlace, { stderr, problem }: Ended): BackupError {
  if (problem?.code === "ENOENT") {
    return new BackupError("The program restic is not installed; it encrypts and stores backups. Run: apt-get install restic");
  }
  if (problem?.name === "AbortError") return new BackupError("The backup was stopped. It continues when the command runs again.");
  const cause = { cause: problem ?? new Error(stderr.trim()) };
  const said = stderr.trim().split("\n").slice(-3).join("\n");
  const known = explanations.find(([pattern]) => pattern.test(stderr));
  if (!known) return new BackupError(`restic failed at ${name}: ${said || (problem?.message ?? "it was ended")}`, cause);
  const [, sentence, Kind = BackupError] = known;
  return new Kind(Kind === NothingThere ? sentence(name) : `${sentence(name)}\n${said}`, cause);
}
