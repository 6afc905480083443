/** Headers that are about one connection only (RFC 9110 §7.6.1), or frame the message on it. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["proxy-authenticate", "proxy-authorization"],
]);
