import { env, loadSettingsFile } from "#core/env.ts";
import { command, type Outcome } from "./command.ts";
import { checkAuditLog } from "./doctor/check-audit-log.ts";
import { checkClock } from "./doctor/check-clock.ts";
import { checkDataDir } from "./doctor/check-data-dir.ts";
import { checkDatabase } from "./doctor/check-database.ts";
import { checkGitProgram } from "./doctor/check-git.ts";
import { checkJobs } from "./doctor/check-jobs.ts";
import { checkKeys } from "./doctor/check-keys.ts";
import { checkLargeFiles } from "./doctor/check-large-files.ts";
import { checkMail, checkMailQueue } from "./doctor/check-mail.ts";
import { checkForwarded, checkOrigin } from "./doctor/check-origin.ts";
import { checkOutbound } from "./doctor/check-outbound.ts";
import { checkPeople } from "./doctor/check-people.ts";
import { checkService } from "./doctor/check-service.ts";
import { checkWorker } from "./doctor/check-worker.ts";
import { type Finding, findings, reason } from "./doctor/finding.ts";
import { withInstance } from "./with-instance.ts";

export const doctor = command({
  name: "doctor",
  summary: "Checks settings, database, mail, clock and the way out, and says what to do.",
  notes: ["Each line is ok, warn or fail. Exit code 1 when anything fails."],
  options: {},
  opensInstance: false,
  async run() {
    const settings = checkSettings();
    // With settings that cannot be read there is nothing to look at.
    if (settings.some(({ status }) => status === "fail")) return report(settings);
    return report([...settings, ...checkOrigin(), ...(await checkWithDatabase()), ...(await checkSurroundings())]);
  },
});

function checkSettings(): Finding[] {
  const settings = findings("settings");
  try {
    loadSettingsFile();
    const { NODE_ENV, PORT, DATABASE_URL, SECRET_KEY } = env();
    if (DATABASE_URL && !SECRET_KEY) {
      return [
        settings.fail(
          "SECRET_KEY is not set",
          "Set it to the output of: openssl rand -base64 48. Keep it: it opens what is sealed.",
        ),
      ];
    }
    const database = DATABASE_URL ? "a database of yours" : "the embedded database";
    return [settings.ok(`port ${PORT}, ${database}${NODE_ENV === "production" ? "" : `, ${NODE_ENV}`}`)];
  } catch (error) {
    return [settings.fail((error as Error).message, "Correct them, in the environment or in .env.")];
  }
}

/** What can only be seen in the database; when it cannot be opened, that is the finding. */
async function checkWithDatabase(): Promise<Finding[]> {
  const found: Finding[] = [];
  try {
    await withInstance(async () => {
      for (const check of [
        checkForwarded,
        checkDatabase,
        checkAuditLog,
        checkClock,
        checkKeys,
        checkPeople,
        checkMailQueue,
        checkWorker,
        checkJobs,
      ])
        found.push(...(await check()));
    });
    return found;
  } catch (error) {
    const advice =
      "Check DATABASE_URL and that the server runs and lets us in; without DATABASE_URL, read postgres.log in DATA_DIR.";
    return [...found, findings("database").fail(reason(error), advice)];
  }
}

async function checkSurroundings(): Promise<Finding[]> {
  return [
    checkDataDir(),
    await checkGitProgram(),
    await checkLargeFiles(),
    await checkMail(),
    await checkOutbound(),
    await checkService(),
  ].flat();
}

function report(found: Finding[]): Outcome {
  const width = Math.max(...found.map(({ check }) => check.length));
  const lines = found.map(({ status, check, found: what, advice }) =>
    [
      `${status.padEnd(4)}  ${check.padEnd(width)}  ${what.replaceAll("\n", `\n${" ".repeat(width + 8)}`)}`,
      ...(advice ? [`${" ".repeat(width + 8)}${advice}`] : []),
    ].join("\n"),
  );
  const isFailure = found.some(({ status }) => status === "fail");
  return { json: { ok: !isFailure, checks: found }, text: lines.join("\n"), isFailure };
}
