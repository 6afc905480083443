import { isIP } from "node:net";
import { OutboundFailure, type OutboundRequest } from "./request.ts";

/** Where a request goes, normalised. */
export type Target = {
  isTls: boolean;
  /** A name in ASCII without its trailing dot, or an IP address without brackets. */
  host: string;
  port: number;
  /** Scheme, host and port as the `Host` header and the connection know them. */
  origin: string;
  /** Path with query. */
  path: string;
};

/**
 * The URL parser of the web makes one spelling of decimal, octal, hexadecimal and short IPv4 addresses, brackets and
 * international names, and refuses zone ids; what it leaves is the dots at the end of a name (S118).
 */
export function parseTarget({
  url: text,
  ports,
  isHttpsRequired,
}: Pick<OutboundRequest, "url" | "ports" | "isHttpsRequired">): Target {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw OutboundFailure.blocked("it is not an http or https address");
  if (isHttpsRequired && url.protocol !== "https:") throw OutboundFailure.blocked("the address has to begin with https://");
  if (url.username || url.password) throw OutboundFailure.blocked("the address must not hold a user name or a password");
  // Set through the parser, for which 127.0.0.1.. is a name and 127.0.0.1 is not.
  url.hostname = url.hostname.replace(/(?<!\.)\.+$/, "");
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  if (ports && !ports.includes(port)) throw OutboundFailure.blocked(`port ${port} is not allowed here`);
  const bare = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { isTls, host: isIP(bare) ? bare : url.hostname, port, origin: url.origin, path: `${url.pathname}${url.search}` };
}
