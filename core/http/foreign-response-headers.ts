/** An allowlist, because browsers apply some headers to the whole origin, and proxies obey some (docs/decisions/077). */
const ALLOWED: ReadonlySet<string> = new Set([
  // These headers describe the body (RFC 9110 §8, RFC 9530).
  ...["content-type", "content-language", "content-encoding", "content-length", "content-range", "content-location"],
  ...["content-disposition", "content-digest", "repr-digest", "accept-ranges", "last-modified", "etag", "date", "age"],
  ...["cache-control", "expires", "pragma", "vary", "x-robots-tag"],
  ...["location", "retry-after", "allow", "accept-patch", "accept-post", "deprecation", "sunset"],
  ...["ratelimit", "ratelimit-policy", "server-timing"],
  // These belong to a WebSocket's handshake (RFC 6455). The service sets the handshake's other headers.
  ...["sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions"],
  // These belong to the Model Context Protocol over HTTP, and to counts of lists.
  ...["mcp-session-id", "mcp-protocol-version", "x-total-count"],
]);

/** No browser or proxy interprets such names. An app's own headers begin with `X-App-`. */
const ALLOWED_FAMILY = /^(x-app-|ratelimit-|x-ratelimit-)[a-z0-9-]+$/;

/** @param name in lower case */
export const isForeignHeaderAllowed = (name: string): boolean => ALLOWED.has(name) || ALLOWED_FAMILY.test(name);
