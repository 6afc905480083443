import { accessSync, constants, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { env } from "#core/env.ts";
import { type Finding, findings, reason } from "./finding.ts";

const report = findings("data directory");
const OTHERS = 0o077;
const LOW_DISK_BYTES = 1024 ** 3;

/** The directory that holds keys, outbox and the embedded database: ours alone, writable, with room left. */
export function checkDataDir(): Finding[] {
  const { DATA_DIR } = env();
  try {
    const mode = statSync(DATA_DIR).mode;
    accessSync(DATA_DIR, constants.R_OK | constants.W_OK | constants.X_OK);
    const exposed = exposedFiles(DATA_DIR, mode);
    if (exposed.length > 0) {
      return [report.fail(`others on this machine can read ${exposed.join(", ")}`, `Run: chmod 600 ${exposed.join(" ")}`)];
    }
    const { bavail, bsize } = statfsSync(DATA_DIR);
    if (bavail * bsize < LOW_DISK_BYTES) {
      return [report.warn(`${DATA_DIR} has less than 1 GB of disk left`, "Make room: the database stops when the disk is full.")];
    }
    return [report.ok(DATA_DIR)];
  } catch (error) {
    return [report.fail(`${DATA_DIR}: ${reason(error)}`, "Make it readable and writable for the user that runs the service.")];
  }
}

/** Secrets that somebody else could open: files at the top of a directory that lets others in. */
function exposedFiles(directory: string, mode: number): string[] {
  if ((mode & OTHERS) === 0) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /secret|password|key/.test(entry.name))
    .map((entry) => join(directory, entry.name))
    .filter((path) => (statSync(path).mode & OTHERS) !== 0);
}
