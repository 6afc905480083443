import { env } from "#core/env.ts";
import { command, type Outcome } from "./command.ts";
import { checkBackups } from "./doctor/backups.ts";
import { checkAuditLog, checkClock, checkDatabase, checkKeys, checkOperators, checkSecretKey } from "./doctor/database.ts";
import { type Finding, findings, reason } from "./doctor/finding.ts";
import { checkDataDir, checkGitProgram, checkJobs, checkLargeFiles } from "./doctor/machine.ts";
import { checkMail, checkMailQueue } from "./doctor/mail.ts";
import { checkForwarded, checkOrigin, checkOutbound, checkService, checkSpaces, checkWorker } from "./doctor/network.ts";
import { loadSettings } from "./load-settings.ts";
import { withInstance } from "./run-command.ts";

export const doctor = command({
  name: "doctor",
  summary: "Checks settings, database, mail, clock and outbound access, and says what to do.",
  notes: ["Each line is ok, warn or fail. Exit code 1 if anything fails."],
  options: {},
  opensInstance: false,
  async run() {
    const settings = checkSettings();
    if (settings.some(({ status }) => status === "fail")) return report(settings);
    return report([...settings, ...checkOrigin(), ...(await checkWithDatabase()), ...(await checkMachineAndNetwork())]);
  },
});

function checkSettings(): Finding[] {
  const settings = findings("settings");
  try {
    loadSettings();
    const { NODE_ENV, PORT, DATABASE_URL, SECRET_KEY } = env();
    if (DATABASE_URL && !SECRET_KEY) {
      return [
        settings.fail(
          "SECRET_KEY is not set",
          "Set it to the output of: openssl rand -base64 48. Keep it: it decrypts stored secrets.",
        ),
      ];
    }
    const database = DATABASE_URL ? "your own database" : "the embedded database";
    return [settings.ok(`port ${PORT}, ${database}${NODE_ENV === "production" ? "" : `, ${NODE_ENV}`}`)];
  } catch (error) {
    return [settings.fail((error as Error).message, "Correct the settings, in the environment or in .env.")];
  }
}

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
        checkSecretKey,
        checkOperators,
        checkBackups,
        checkMailQueue,
        checkWorker,
        checkJobs,
        checkSpaces,
      ])
        found.push(...(await check()));
    });
    return found;
  } catch (error) {
    const advice =
      "Check DATABASE_URL, and that the server is running and accepts connections from here; without DATABASE_URL, read postgres.log in DATA_DIR.";
    return [...found, findings("database").fail(reason(error), advice)];
  }
}

async function checkMachineAndNetwork(): Promise<Finding[]> {
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
