import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** The prefix is short, because the path of a Unix socket has at most 107 bytes. */
const PREFIX = "kh-";
/** A run uses less than a gigabyte at a time. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** Creating a file on a disk takes twenty times as much processor time. A TMPDIR that was set by hand is not changed. */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR || !existsSync(MEMORY)) return;
  removeLeftFolders();
  const { bavail, bsize } = statfsSync(MEMORY);
  if (Math.min(bavail * bsize, process.availableMemory() / 2) < ROOM_BYTES) return;
  const folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`));
  // Postgres runs as another user if the tests run as root.
  chmodSync(folder, 0o755);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  if (canExecuteIn(folder)) process.env.TMPDIR = folder;
}

/** Folders of killed runs would occupy memory until the machine restarts. */
function removeLeftFolders(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : undefined;
    if (pid && !existsSync(`/proc/${pid}`)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

/** Containers often mount /dev/shm so that programs cannot run, and tests write programs. */
function canExecuteIn(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "", { mode: 0o755 });
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(program);
  }
}
