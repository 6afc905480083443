import { BadInput } from "../errors.ts";
import type { Terminal } from "../terminal.ts";
import { credentialsPath, readCredentialsFile } from "./credentials-file.ts";

/** Which service: `--url`, `KEYHOOK_URL`, or the one that the person is signed in to. */
export async function findBaseUrl(terminal: Terminal, given: string | undefined): Promise<string> {
  const named = given ?? terminal.env.KEYHOOK_URL;
  if (named) return parseBaseUrl(named);
  const known = Object.keys(await readCredentialsFile(credentialsPath(terminal)));
  if (known.length === 1) return known[0] as string;
  const example = "with keyhook --url https://hub.example.com …, or by KEYHOOK_URL";
  if (known.length === 0) throw new BadInput(`You are not signed in. Say which service: keyhook login ADDRESS, or ${example}.`);
  throw new BadInput(`You are signed in to ${known.join(", ")}. Say which one is meant ${example}.`);
}

/** The origin, since that is what tokens are kept by and what the discovery document is found under. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new BadInput(`${JSON.stringify(text)} is no address of a service. Write it whole, such as https://hub.example.com.`);
  }
  return url.origin;
}

/** Whether tokens on their way there can be read by others. */
export function isPlain(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
