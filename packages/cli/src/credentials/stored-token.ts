import { keepTokens, type TokenSource } from "@keyhook/sdk";
import { Refused } from "../errors.ts";
import type { Terminal } from "../terminal.ts";
import { credentialsPath, readCredentialsFile, writeCredentialsFile } from "./credentials-file.ts";
import { withFileLock } from "./with-file-lock.ts";

/** The command line's own client, which every service has (C8 in docs/specification/existing-clients.md). */
export const CLI_CLIENT_ID = "26be6b09-91c5-47da-9861-d2d2bb7a7e36";

/** Its tokens live for 30 days: renewed a day before, one that is used each week never ends in the middle of something. */
const REFRESH_BEFORE_SECONDS = 24 * 60 * 60;

/** The token that the person is signed in with at a service; it renews itself, whichever command comes first. */
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
    `You are not signed in to ${origin}. Run keyhook login --url ${origin}, or give a token by --token or KEYHOOK_TOKEN.`,
  );

type Given = { accessToken: string; refreshToken?: string | undefined; expiresAt?: string | undefined };

/** Keeps a sign-in in the place of the one that there was; undefined forgets it. */
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
