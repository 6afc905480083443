/** Shown instead of a hidden value. */
export const MASK = "••••••";

/** Names of headers whose values are credentials or identify a session (S121). */
const SECRET_NAME =
  /^(set-)?cookie2?$|authori[sz]ation|authentication-info|(^|[-_])(tokens?|secrets?|passwords?|passwd|credentials?|sessions?|sessionid|sid|jwt|csrf|xsrf|nonce|signature|assertion|bearer)([-_]|$)|api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|auth[-_]?key|^x-auth(-|$)|^x-amz-security/i;

/**
 * Values that are credentials in any header. A JWT is looked for only once in each word: a header can have thousands of
 * possible starts (S137).
 */
const SECRET_VALUE = /\b(bearer|basic|digest|token|negotiate)\s+[\w~+/.=-]{8,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gi;

/**
 * A response's headers as shown: `Set-Cookie` keeps its names; the values of other headers with credentials are removed
 * entirely (S121).
 * @param hide removes the webhook's own secret, which a target that echoes its request sends back (S130)
 */
export function maskHeaders(headers: Record<string, string>, hide: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? MASK : hide(String(value)).replace(SECRET_VALUE, MASK),
    ]),
  );
}

// A shorter secret is in every response by chance, and masking it would reveal it.
const HIDEABLE_MIN_CHARACTERS = 6;

/** Removes secrets from a text, in their plain, JSON and URL-encoded forms. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const spelled = secrets
    .filter((secret) => secret.length >= HIDEABLE_MIN_CHARACTERS)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // The longest first: one form may be the beginning of another.
  const all = [...new Set(spelled)].sort((a, b) => b.length - a.length);
  return (text) => all.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}
