import { isBackupLate, readLastBackup } from "#core/operations/last-backup.ts";
import { areBackupsKnown } from "#core/operations/set-up-steps.ts";
import { type Finding, findings } from "./finding.ts";

export async function checkBackups(): Promise<Finding[]> {
  const backups = findings("backups");
  const last = await readLastBackup();
  if (last) {
    const found = `the last one was completed on ${last.finishedAt.toISOString()}, at ${last.place}`;
    if (!isBackupLate(last)) return [backups.ok(found)];
    return [
      backups.warn(
        found,
        "No backup has succeeded for three days. Read the log of the timer or CronJob that runs `admin backup`.",
      ),
    ];
  }
  if (await areBackupsKnown()) return [backups.ok("made by other means")];
  return [
    backups.warn(
      "none yet",
      "Run `npm run --silent admin -- backup --to …` every night (docs/operations.md), or confirm on the overview that you make them by other means.",
    ),
  ];
}
