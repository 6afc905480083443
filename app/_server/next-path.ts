/**
 * Where to go after signing in, from an untrusted `next` parameter: a path on our own origin, or `fallback`. Everything
 * that a browser could read as another origin is refused (`//host`, `/\host`, a scheme, control characters that URL
 * parsers drop), so that a sign-in link cannot send people elsewhere (open redirect).
 */
export function nextPath(next: unknown, fallback = "/"): string {
  if (typeof next !== "string" || next.length > MAX_LENGTH || !SAFE_START.test(next) || HIDDEN.test(next)) return fallback;
  const url = URL.parse(next, BASE);
  // Dot segments are gone only now: "/..//host" has become "//host".
  if (url?.origin !== BASE || !SAFE_START.test(url.pathname)) return fallback;
  return url.pathname + url.search + url.hash;
}

const BASE = "https://self.invalid";
const MAX_LENGTH = 4_096;
const SAFE_START = /^\/(?![/\\])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters being refused
const HIDDEN = /[\u0000-\u0020\\\u007f]/;

/** The address of the sign-in page that comes back to `next`. */
export function signInPath(next: string, { isReauthentication = false } = {}): string {
  const query = new URLSearchParams(isReauthentication ? { reauthenticate: "1", next } : { next });
  return `/login?${query}`;
}
