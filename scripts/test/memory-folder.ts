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
/** Short, because the path of a Unix socket has at most 107 bytes. */
const PREFIX = "kh-";
/** The required free memory. A run uses less than a gigabyte at a time. */
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * Keeps the temporary files of a test run in memory, if Linux has room for them. A database consists of a thousand small files and a
 * repository of dozens. On the disk of a virtual machine, creating a file can take a fifth of a millisecond of processor time, in memory a
 * hundredth of a millisecond. A TMPDIR that was set by hand is not changed.
 */
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

/** Removes folders of killed runs, which would occupy memory until the machine restarts. */
function removeLeftFolders(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : undefined;
    if (pid && !existsSync(`/proc/${pid}`)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

/** Whether programs in a folder can run: containers often mount /dev/shm so that they cannot, and tests write programs. */
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
