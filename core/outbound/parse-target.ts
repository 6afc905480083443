import { isIP } from "node:net";
import { Deadline } from "./deadline.ts";
import { allowedRange, forbiddenRange, isAllowedAddress } from "./is-allowed-address.ts";
import { failureOf, OutboundFailure, type OutboundRequest } from "./request.ts";
import { type ResolveHost, resolveHost } from "./resolve-host.ts";

export type Target = {
  isTls: boolean;
  /** A name in ASCII without its trailing dot, or an IP address without brackets. */
  host: string;
  port: number;
  origin: string;
  path: string;
};

/** The URL parser leaves the dots at the end of a name (S118). */
export function parseTarget({
  url: text,
  ports,
  isHttpsRequired,
}: Pick<OutboundRequest, "url" | "ports" | "isHttpsRequired">): Target {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw OutboundFailure.blocked("the URL is not a valid http or https URL");
  if (isHttpsRequired && url.protocol !== "https:") throw OutboundFailure.blocked("the URL must begin with https://");
  if (url.username || url.password) throw OutboundFailure.blocked("the URL must not contain a username or a password");
  // The parser reads `127.0.0.1..` as a name, and `127.0.0.1` as an address.
  url.hostname = url.hostname.replace(/(?<!\.)\.+$/, "");
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  if (ports && !ports.includes(port)) throw OutboundFailure.blocked(`port ${port} is not allowed here`);
  const bare = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { isTls, host: isIP(bare) ? bare : url.hostname, port, origin: url.origin, path: `${url.pathname}${url.search}` };
}

/** The query is left out, because it may contain a key. */
export function loggableAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

type ExaminedAddress = {
  address: string;
  isAllowed: boolean;
  /** The name of the special range. Null for an ordinary public address. */
  range: string | null;
};

export type Examined =
  /** The host was not looked up, or could not be. */
  | { outcome: "refused"; reason: string }
  | { outcome: "resolved"; host: string; port: number; isAllowed: boolean; addresses: ExaminedAddress[] };

const LOOKUP_MS = 5_000;

export async function examineAddress(url: string, resolve: ResolveHost = resolveHost): Promise<Examined> {
  const deadline = new Deadline(LOOKUP_MS, LOOKUP_MS);
  deadline.enter("no name server responded in time");
  try {
    const { host, port } = parseTarget({ url });
    const addresses = (await resolve(host, deadline.signal)).map((address) => ({
      address,
      isAllowed: isAllowedAddress(address),
      range: allowedRange(address) ?? forbiddenRange(address) ?? null,
    }));
    return { outcome: "resolved", host, port, isAllowed: addresses.every(({ isAllowed }) => isAllowed), addresses };
  } catch (error) {
    return { outcome: "refused", reason: failureOf(deadline.signal.aborted ? deadline.signal.reason : error).result.reason };
  } finally {
    deadline.clear();
  }
}
