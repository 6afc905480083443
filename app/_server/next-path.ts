import { localPath } from "#core/accounts/local-path.ts";

const BASE = "https://self.invalid";

/**
 * Where to go after signing in, from an untrusted `next` parameter: a path on our own origin, or `fallback`, so that a sign-in link cannot
 * send people to another site (open redirector, RFC 9700 §4.11). The path is returned as a browser resolves it, because `/..//host` becomes
 * `//host`, which Next's router would interpret as another host.
 */
export function nextPath(next: unknown, fallback = "/"): string {
  const path = localPath(next);
  const url = path === null ? null : URL.parse(path, BASE);
  const resolved = url?.origin === BASE ? localPath(url.pathname + url.search + url.hash) : null;
  return resolved ?? fallback;
}

/** The URL of the sign-in page, which then returns to `next`. */
export function signInPath(next: string, { isReauthentication = false } = {}): string {
  const query = new URLSearchParams(isReauthentication ? { reauthenticate: "1", next } : { next });
  return `/login?${query}`;
}
