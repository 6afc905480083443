import { env } from "../env.ts";

/** What an address of a relay names. */
export type RelayTarget = {
  token: string;
  /** What follows the token, as it was sent, with the query; it begins with a slash. */
  path: string;
};

const RELAY = /^\/relay\/([^/?]+)/;

/** Whether an address is that of a relay: it goes to that door and to no other. */
export const isRelayPath = (pathname: string): boolean => /^\/relay(\/|$)/.test(pathname);

/** Reads a path with its query. What can be no token, of us or of anybody, is none. */
export function parseRelayPath(path: string): RelayTarget | undefined {
  const [matched = "", token = ""] = RELAY.exec(path) ?? [];
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
  const rest = path.slice(matched.length);
  return { token, path: rest.startsWith("/") ? rest : `/${rest}` };
}

/** The same for a whole address; undefined for one that is not under the relays of this service. */
export function relayTargetOf(url: string): RelayTarget | undefined {
  const parsed = URL.parse(url);
  if (!parsed || parsed.origin !== new URL(env().ORIGIN).origin) return undefined;
  return parseRelayPath(parsed.pathname + parsed.search);
}
