/**
 * The headers that somebody else's program may give to an answer on our origin: those of a Space's app, and of a handler behind a relay.
 *
 * This is a list of what is allowed, because nobody can list what is not. Browsers apply some headers to the whole origin (`Set-Cookie`,
 * `Clear-Site-Data`, and each year another one). Proxies obey others: with `X-Accel-Redirect` an app had the operator's nginx serve its
 * internal files, at our address and without the sandbox (docs/decisions/077).
 */
const ALLOWED: ReadonlySet<string> = new Set([
  // What the body is (RFC 9110 §8, RFC 9530).
  ...["content-type", "content-language", "content-encoding", "content-length", "content-range", "content-location"],
  ...["content-disposition", "content-digest", "repr-digest", "accept-ranges", "last-modified", "etag", "date", "age"],
  // How long it may be kept, by whoever asks for this address.
  ...["cache-control", "expires", "pragma", "vary", "x-robots-tag"],
  // What to do next.
  ...["location", "retry-after", "allow", "accept-patch", "accept-post", "deprecation", "sunset"],
  ...["ratelimit", "ratelimit-policy", "server-timing"],
  // A WebSocket's handshake (RFC 6455). The rest of it is ours.
  ...["sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions"],
  // The Model Context Protocol over HTTP, and the counts that APIs give with a page of a list.
  ...["mcp-session-id", "mcp-protocol-version", "x-total-count"],
]);

/** No browser and no proxy knows names like these: an app's own headers begin with `X-App-`. */
const ALLOWED_FAMILY = /^(x-app-|ratelimit-|x-ratelimit-)[a-z0-9-]+$/;

/** @param name in lower case */
export const mayForeignAnswerHave = (name: string): boolean => ALLOWED.has(name) || ALLOWED_FAMILY.test(name);
