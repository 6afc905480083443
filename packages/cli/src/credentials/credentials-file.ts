import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import envPaths from "env-paths";
import { BadInput, Refused } from "../errors.ts";
import type { Terminal } from "../terminal.ts";

/** `expiresAt` is ISO 8601. A token from `login --token` has neither `expiresAt` nor `refreshToken`. */
export type Credentials = { accessToken: string; refreshToken?: string; expiresAt?: string };
export type CredentialsByOrigin = Record<string, Credentials>;

export function credentialsPath({ env }: Pick<Terminal, "env">): string {
  return join(env.KEYHOOK_CONFIG_DIR || envPaths("keyhook", { suffix: "" }).config, "credentials.json");
}

/** Throws `Refused` if the file is damaged, because only the user may decide to overwrite the file. */
export async function readCredentialsFile(path: string): Promise<CredentialsByOrigin> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Refused(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}). Give yourself permission to read it, or delete it.`,
    );
  }
  const read = parse(text);
  if (read === undefined) throw new Refused(`${path} is damaged. Delete it, and sign in again with keyhook login.`);
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

/** Renames a new file, so that readers find a complete file. Nobody else on the machine may read the tokens. */
export async function writeCredentialsFile(path: string, credentials: CredentialsByOrigin): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    // An earlier version may have created a folder that others can read.
    await chmod(dirname(path), 0o700);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new Refused(
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code}). Set KEYHOOK_CONFIG_DIR to a folder that you own.`,
    );
  }
}

export async function findBaseUrl(terminal: Terminal, given: string | undefined): Promise<string> {
  const named = given ?? terminal.env.KEYHOOK_URL;
  if (named) return parseBaseUrl(named);
  const known = Object.keys(await readCredentialsFile(credentialsPath(terminal)));
  if (known.length === 1) return known[0] as string;
  const example = "with --url (such as https://hub.example.com) or KEYHOOK_URL";
  if (known.length === 0) throw new BadInput(`You are not signed in. Run keyhook login URL, or name the service ${example}.`);
  throw new BadInput(`You are signed in to ${known.join(", ")}. Choose one ${example}.`);
}

export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new BadInput(
      `${JSON.stringify(text)} is not the URL of a service. Use a complete one, such as https://hub.example.com.`,
    );
  }
  return url.origin;
}

/** Whether others on the network can read tokens that are sent to this origin. */
export function isPlain(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
