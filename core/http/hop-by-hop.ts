import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** Headers that are about one connection only (RFC 9110 §7.6.1), or frame the message on it. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["proxy-authenticate", "proxy-authorization"],
]);

/** The names that `Connection` has, in small letters. Split at commas alone: spaces beside them are tried anew at each of them (S138). */
export const connectionNames = (connection: string): string[] =>
  connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());

/** Headers without those that are about one connection only (RFC 9110 §7.6.1), those that `Connection` names among them. */
export function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set(connectionNames(String(headers.connection ?? "")));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}
