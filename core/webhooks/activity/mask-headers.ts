/** What stands in the place of a value that is not shown. */
export const MASK = "••••••";

/** Names of headers whose values would let their reader in somewhere, or stand for somebody who is in (S121). */
const SECRET_NAME =
  /^(set-)?cookie2?$|authori[sz]ation|authentication-info|(^|[-_])(tokens?|secrets?|passwords?|passwd|credentials?|sessions?|sessionid|sid|jwt|csrf|xsrf|nonce|signature|assertion|bearer)([-_]|$)|api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|auth[-_]?key|^x-auth(-|$)|^x-amz-security/i;

/** Values that are credentials whatever their header is called. A JWT is looked for once in each word: a header can have thousands of beginnings (S137). */
const SECRET_VALUE = /\b(bearer|basic|digest|token|negotiate)\s+[\w~+/.=-]{8,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gi;

/**
 * An answer's headers as they are shown: `Set-Cookie` keeps its names, of others that hold credentials nothing is left (S121).
 * @param hide takes the webhook's own secret out, which a target that echoes its request sends back (S130)
 */
export function maskHeaders(headers: Record<string, string>, hide: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? MASK : hide(String(value)).replace(SECRET_VALUE, MASK),
    ]),
  );
}

// A secret of a few letters is in every answer by chance, and to take those out would show where it is.
const HIDEABLE_MIN_CHARACTERS = 6;

/** Takes secrets out of a text, as they are and as JSON and addresses spell them. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const spelled = secrets
    .filter((secret) => secret.length >= HIDEABLE_MIN_CHARACTERS)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // The longest first: one spelling may begin another.
  const all = [...new Set(spelled)].sort((a, b) => b.length - a.length);
  return (text) => all.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}
