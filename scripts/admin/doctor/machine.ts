import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { env } from "#core/env.ts";
import { checkGit } from "#core/hub/git/check-git.ts";
import { lfsStorage } from "#core/hub/lfs/storage/storages.ts";
import { readRunnerReport } from "#core/jobs/runners/runner-report.ts";
import { type Finding, findings, reason } from "./finding.ts";

const OTHERS = 0o077;
const LOW_DISK_BYTES = 1024 ** 3;

export function checkDataDir(): Finding[] {
  const directory = findings("data directory");
  const { DATA_DIR } = env();
  try {
    const mode = statSync(DATA_DIR).mode;
    for (const path of [DATA_DIR, join(DATA_DIR, "repositories")])
      if (path === DATA_DIR || existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const exposed = exposedFiles(DATA_DIR, mode);
    if (exposed.length > 0) {
      return [directory.fail(`others on this machine can read ${exposed.join(", ")}`, `Run: chmod 600 ${exposed.join(" ")}`)];
    }
    const { bavail, bsize } = statfsSync(DATA_DIR);
    if (bavail * bsize < LOW_DISK_BYTES) {
      const advice = "Free some space: the database stops when the disk is full.";
      return [directory.warn(`${DATA_DIR} has less than 1 GB of disk space left`, advice)];
    }
    return [directory.ok(DATA_DIR)];
  } catch (error) {
    const advice = "Make it readable and writable for the user that runs the service.";
    return [directory.fail(`${DATA_DIR}: ${reason(error)}`, advice)];
  }
}

/** Returns the files with secrets that other users can access. There are none if other users cannot access the directory. */
function exposedFiles(directory: string, mode: number): string[] {
  if ((mode & OTHERS) === 0) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /secret|password|key/.test(entry.name))
    .map((entry) => join(directory, entry.name))
    .filter((path) => (statSync(path).mode & OTHERS) !== 0);
}

export async function checkGitProgram(): Promise<Finding[]> {
  const git = findings("git");
  try {
    return [git.ok(`version ${await checkGit()}`)];
  } catch (error) {
    return [git.fail(reason(error), "Install or update git: the service does not start without it.")];
  }
}

const PROBE_TIMEOUT_MS = 10_000;

export async function checkLargeFiles(): Promise<Finding[]> {
  const largeFiles = findings("large files");
  const { LFS_STORAGE, LFS_S3_BUCKET, LFS_S3_ENDPOINT, DATA_DIR } = env();
  const place = LFS_STORAGE === "s3" ? `bucket ${LFS_S3_BUCKET} at ${LFS_S3_ENDPOINT ?? "Amazon S3"}` : `${DATA_DIR}/lfs`;
  try {
    await within(PROBE_TIMEOUT_MS, lfsStorage().probe());
    return [largeFiles.ok(place)];
  } catch (error) {
    const advice =
      LFS_STORAGE === "s3"
        ? "Check the LFS_S3 settings, and make sure that the key may read, write and delete in the bucket."
        : "Make it writable for the user that runs the service.";
    return [largeFiles.fail(`${place}: ${reason(error)}`, advice)];
  }
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response within ${milliseconds / 1000} seconds`)), milliseconds);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

export async function checkJobs(): Promise<Finding[]> {
  const jobs = findings("jobs");
  const report = await readRunnerReport();
  if (report.kind === "silent") return [jobs.ok("no worker has recently reported how it runs them")];
  if (report.kind === "refuses") {
    if (env().JOBS_RUNNER === "off") return [jobs.ok("refused: JOBS_RUNNER is off")];
    return [jobs.warn("refused", report.refusal)];
  }
  const { runner, limits } = report;
  if (runner === "unsandboxed") {
    return [
      jobs.warn(
        "run as this service's own user, limited only in time",
        "Set JOBS_RUNNER to another runner, unless everybody who can run jobs may do everything that the service can.",
      ),
    ];
  }
  if (!limits || limits.isExact) return [jobs.ok([runner, limits?.sentence].filter(Boolean).join(": "))];
  return [
    jobs.warn(
      `${runner}: ${limits.sentence}`,
      'docs/operations.md, "What holds a job", says how to let it create cgroups (Delegate=yes).',
    ),
  ];
}
