import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Refused } from "../errors.ts";

/** Longer than a renewal takes with all its retries. */
const STALE_MS = 60_000;
const WAIT_MS = 90_000;

/**
 * Runs `work` while no other process of this person's does, by a file that only one can make. A refresh token is good for one use:
 * two commands that renew at once would look like a theft to the service, which then ends the sign-in.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await take(lock, signal);
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take(lock: string, signal?: AbortSignal): Promise<void> {
  const giveUpAt = Date.now() + WAIT_MS;
  for (;;) {
    try {
      const file = await open(lock, "wx", 0o600);
      await file.writeFile(String(process.pid));
      await file.close();
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw new Refused(`${lock} cannot be made (${code}). Set KEYHOOK_CONFIG_DIR to a folder of yours.`);
    }
    if (await isLeftBehind(lock)) await rm(lock, { force: true });
    else if (Date.now() > giveUpAt) throw new Refused(`Another command has held ${lock} for long. Remove it if none is running.`);
    else await sleep(25 + Math.random() * 50, undefined, { signal });
  }
}

/** Its process is gone, or it is older than any work takes. */
async function isLeftBehind(lock: string): Promise<boolean> {
  try {
    const [{ mtimeMs }, text] = await Promise.all([stat(lock), readFile(lock, "utf8")]);
    if (Date.now() - mtimeMs > STALE_MS) return true;
    const pid = Number(text);
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
