import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { keepTokens, type TokenSource } from "@keyhook/sdk";
import { Refused } from "../errors.ts";
import type { Terminal } from "../terminal.ts";
import { credentialsPath, readCredentialsFile, writeCredentialsFile } from "./credentials-file.ts";

/** Every service has this client ID (C8 in docs/specification/existing-clients.md). */
export const CLI_CLIENT_ID = "26be6b09-91c5-47da-9861-d2d2bb7a7e36";

/** Tokens are valid for 30 days. They are renewed a day before their expiry, so that none expires while a long command runs. */
const REFRESH_BEFORE_SECONDS = 24 * 60 * 60;

export function storedToken(terminal: Terminal, origin: string): TokenSource {
  const path = credentialsPath(terminal);
  return keepTokens({
    baseUrl: origin,
    clientId: CLI_CLIENT_ID,
    refreshBeforeSeconds: REFRESH_BEFORE_SECONDS,
    async read() {
      const known = (await readCredentialsFile(path))[origin];
      if (!known) throw notSignedIn(origin);
      return known;
    },
    async write({ accessToken, refreshToken, expiresAt }) {
      await storeUnlocked(path, origin, { accessToken, refreshToken, expiresAt });
    },
    lock: (work) => withFileLock(path, work, terminal.signal),
  });
}

export const notSignedIn = (origin: string): Refused =>
  new Refused(
    `You are not signed in to ${origin}. Run keyhook login --url ${origin}, or pass a token with --token or KEYHOOK_TOKEN.`,
  );

type Given = { accessToken: string; refreshToken?: string | undefined; expiresAt?: string | undefined };

export async function storeCredentials(terminal: Terminal, origin: string, given: Given | undefined): Promise<void> {
  const path = credentialsPath(terminal);
  await withFileLock(path, () => storeUnlocked(path, origin, given), terminal.signal);
}

async function storeUnlocked(path: string, origin: string, given: Given | undefined): Promise<void> {
  const { [origin]: _before, ...others } = await readCredentialsFile(path);
  const kept = given && {
    accessToken: given.accessToken,
    ...(given.refreshToken !== undefined && { refreshToken: given.refreshToken }),
    ...(given.expiresAt !== undefined && { expiresAt: given.expiresAt }),
  };
  await writeCredentialsFile(path, { ...others, ...(kept && { [origin]: kept }) });
}

const STALE_MS = 60_000;
const WAIT_MS = 90_000;

/** Two renewals with the same refresh token look like a theft, and the service would end the sign-in. */
export async function withFileLock<T>(path: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await take(lock, signal);
  const alive = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), STALE_MS / 6);
  try {
    return await work();
  } finally {
    clearInterval(alive);
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
      if (code !== "EEXIST")
        throw new Refused(`${lock} cannot be created (${code}). Set KEYHOOK_CONFIG_DIR to a folder that you own.`);
    }
    if (await isLeftBehind(lock)) await rm(lock, { force: true });
    else if (Date.now() > giveUpAt) throw new Refused(`Another command holds ${lock}. If none is running, delete the file.`);
    else await sleep(25 + Math.random() * 50, undefined, { signal });
  }
}

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
