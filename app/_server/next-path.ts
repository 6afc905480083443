import { localPath } from "#core/accounts/local-path.ts";

const BASE = "https://self.invalid";

/** No link may lead to another site (RFC 9700 §4.11). URL parsers turn `/..//host` into `//host`, which Next treats as another host. */
export function nextPath(next: unknown, fallback = "/"): string {
  const path = localPath(next);
  const url = path === null ? null : URL.parse(path, BASE);
  const resolved = url?.origin === BASE ? localPath(url.pathname + url.search + url.hash) : null;
  return resolved ?? fallback;
}

export function signInPath(next: string, { isReauthentication = false } = {}): string {
  const query = new URLSearchParams(isReauthentication ? { reauthenticate: "1", next } : { next });
  return `/login?${query}`;
}
