import type { IncomingMessage } from "node:http";

export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  for (const pair of headers.cookie?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
