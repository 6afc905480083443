import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import envPaths from "env-paths";
import { Refused } from "../errors.ts";
import type { Terminal } from "../terminal.ts";

/** A sign-in at one service. `expiresAt` is ISO 8601; without it and without `refreshToken` it is a token that somebody gave. */
export type Credentials = { accessToken: string; refreshToken?: string; expiresAt?: string };
/** By the origin of the service. */
export type CredentialsByOrigin = Record<string, Credentials>;

/** In the system's folder for settings; `KEYHOOK_CONFIG_DIR` names another. */
export function credentialsPath({ env }: Pick<Terminal, "env">): string {
  return join(env.KEYHOOK_CONFIG_DIR || envPaths("keyhook", { suffix: "" }).config, "credentials.json");
}

/** @throws Refused for a file that is broken, with what to do: it is never overwritten unasked. */
export async function readCredentialsFile(path: string): Promise<CredentialsByOrigin> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Refused(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}). Make it readable for you alone, or remove it.`,
    );
  }
  const read = parse(text);
  if (read === undefined) throw new Refused(`${path} is broken. Remove it, and sign in again with keyhook login.`);
  return read;
}

function parse(text: string): CredentialsByOrigin | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== "object" || read === null || Array.isArray(read)) return undefined;
    return Object.values(read).every(isCredentials) ? (read as CredentialsByOrigin) : undefined;
  } catch {
    return undefined;
  }
}

function isCredentials(value: unknown): value is Credentials {
  if (typeof value !== "object" || value === null) return false;
  const { accessToken, refreshToken = "", expiresAt = "" } = value as Record<string, unknown>;
  return [accessToken, refreshToken, expiresAt].every((one) => typeof one === "string") && accessToken !== "";
}

/**
 * Written whole under another name and then put in place, so that whoever reads meanwhile finds the old file or the new one. Nobody else
 * on the machine may read it: whoever has the token is the person.
 */
export async function writeCredentialsFile(path: string, credentials: CredentialsByOrigin): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    // Where the umask or an earlier version left more open.
    await chmod(dirname(path), 0o700);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new Refused(
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code}). Set KEYHOOK_CONFIG_DIR to a folder of yours.`,
    );
  }
}
