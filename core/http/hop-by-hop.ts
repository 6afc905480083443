import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** Headers that apply to one connection only (RFC 9110 §7.6.1), or frame the message on it. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["proxy-authenticate", "proxy-authorization"],
]);

/** Returns names in lower case. Splitting with a pattern such as `\s*,\s*` would backtrack (S138). */
export const connectionNames = (connection: string): string[] =>
  connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());

/**
 * RFC 9110 §7.6.1. `Content-Length` stays even if `Connection` names it. Without it, Node would send the body of a GET unframed, and
 * the receiver would take the body for the connection's next request (S137).
 */
export function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set(connectionNames(String(headers.connection ?? "")));
  named.delete("content-length");
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}
