import { env } from "../env.ts";

/** What the URL of a relay names. */
export type RelayTarget = {
  token: string;
  /** The rest of the path after the token, as sent, with the query; it begins with a slash. */
  path: string;
};

const RELAY = /^\/relay\/([^/?]+)/;

/** Whether a path is that of a relay: it goes to that door only. */
export const isRelayPath = (pathname: string): boolean => /^\/relay(\/|$)/.test(pathname);

/** Parses a path with its query; undefined if it cannot contain a token. */
export function parseRelayPath(path: string): RelayTarget | undefined {
  const [matched = "", token = ""] = RELAY.exec(path) ?? [];
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
  const rest = path.slice(matched.length);
  return { token, path: rest.startsWith("/") ? rest : `/${rest}` };
}

/** The same for a whole URL; undefined if it is not that of a relay of this service. */
export function relayTargetOf(url: string): RelayTarget | undefined {
  const parsed = URL.parse(url);
  if (!parsed || parsed.origin !== new URL(env().ORIGIN).origin) return undefined;
  return parseRelayPath(parsed.pathname + parsed.search);
}
