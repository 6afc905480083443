import { isIP } from "node:net";
import { OutboundFailure, type OutboundRequest } from "./request.ts";

/** The normalized target of a request. */
export type Target = {
  isTls: boolean;
  /** A name in ASCII without its trailing dot, or an IP address without brackets. */
  host: string;
  port: number;
  /** Scheme, host and port as used by the `Host` header and the connection. */
  origin: string;
  /** Path with query. */
  path: string;
};

/**
 * The web's URL parser normalizes decimal, octal, hexadecimal and short IPv4 addresses, brackets and international names, and
 * refuses zone ids. It leaves the dots at the end of a name, which are removed here (S118).
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
  // Set through the parser, which takes 127.0.0.1.. for a name but not 127.0.0.1.
  url.hostname = url.hostname.replace(/(?<!\.)\.+$/, "");
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  if (ports && !ports.includes(port)) throw OutboundFailure.blocked(`port ${port} is not allowed here`);
  const bare = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { isTls, host: isIP(bare) ? bare : url.hostname, port, origin: url.origin, path: `${url.pathname}${url.search}` };
}
