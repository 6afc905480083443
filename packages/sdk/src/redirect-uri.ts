/** RFC 8252 §7.1, §7.3. URIs are compared as plain strings except for the port of a loopback address (RFC 9700 §2.1). */

/** How long a redirect URI may be. @group Redirect URIs */
export const REDIRECT_URI_MAX_CHARACTERS = 2000;
/** How many redirect URIs an app may have. @group Redirect URIs */
export const REDIRECT_URI_MAX_COUNT = 50;

/** The context on which the rules depend. @group Redirect URIs */
export type RedirectUriContext = {
  /** The service's own origin. An app may not redirect to it, because that would make the service an open redirector (S20). */
  ownOrigin?: string;
};

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

// The text is matched as written, because a URL parser would turn 127.1 or 2130706433 into 127.0.0.1.
const LOOPBACK = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;

// Schemes that run scripts, read files, open documents in another program, or stand for web addresses (S5).
const FORBIDDEN_SCHEMES = new Set(
  `about acap blob cap cid chrome chrome-extension chrome-search chrome-untrusted content data devtools dns edge feed file
  filesystem ftp ftps geo git gopher imap intent irc ircs jar javascript jdbc ldap ldaps livescript mailto magnet mhtml mid mocha
  moz-extension news nfs nntp opera pop resource rtsp safari-extension search search-ms sftp sip sips smb sms smsto ssh svn tel
  telnet urn vbscript view-source wais ws wss wyciwyg xmpp`.split(/\s+/),
);
const FORBIDDEN_SCHEME_SHAPES = /http|^hxxp|^ms-|^x-javascript|script$/;

/**
 * Checks whether an app may have a redirect URI: any `https` URL, `http` only on this machine, or a private-use scheme.
 * @param uri The URI that was typed.
 * @param context The service's own origin, if it is known.
 * @returns `undefined` if it can be used, or a sentence that says what to change.
 * @see [RFC 8252 §7](https://www.rfc-editor.org/rfc/rfc8252#section-7) and
 *   [RFC 9700 §2.1](https://www.rfc-editor.org/rfc/rfc9700#section-2.1)
 * @group Redirect URIs
 */
export function explainRedirectUri(uri: string, { ownOrigin }: RedirectUriContext = {}): string | undefined {
  if (uri === "") return "Enter a URL, such as https://app.example.com/callback.";
  if (uri.length > REDIRECT_URI_MAX_CHARACTERS)
    return `Shorten the URL to at most ${REDIRECT_URI_MAX_CHARACTERS.toLocaleString("en")} characters.`;
  if (!/^[\x21-\x7e]+$/.test(uri)) {
    return "Use only ASCII characters and no spaces: percent-encode others, and write an international host name as xn--….";
  }
  if (/[\\^`{|}<>"]/.test(uri)) return 'Percent-encode the characters \\ ^ ` { | } < > and ".';
  if (uri.includes("#")) return "Remove the fragment: nothing may follow a #.";
  if (uri.includes("*")) return "Wildcards are not supported. List each URL in full.";
  const scheme = SCHEME.exec(uri)?.[1];
  if (!scheme) return "Begin with a scheme, such as https://app.example.com/callback.";
  if (scheme !== scheme.toLowerCase()) return `Write the scheme in lower case: ${scheme.toLowerCase()}:`;
  if (scheme === "https") return explainHttps(uri, ownOrigin);
  if (scheme === "http") return explainHttp(uri, ownOrigin);
  return explainPrivateScheme(uri, scheme);
}

function explainHttps(uri: string, ownOrigin: string | undefined): string | undefined {
  const url = parseWebAddress(uri);
  if (typeof url === "string") return url;
  if (ownOrigin && isOwnHost(url, ownOrigin)) return "This is a URL of this service. Enter a URL of your app.";
  return undefined;
}

function explainHttp(uri: string, ownOrigin: string | undefined): string | undefined {
  const url = parseWebAddress(uri);
  if (typeof url === "string") return url;
  if (!LOOPBACK.test(uri)) {
    return `Use https. Plain http is only allowed for ${LOOPBACK_HOSTS.join(", ")}, written exactly like this.`;
  }
  if (ownOrigin && isOwnHost(url, ownOrigin)) return "This is a URL of this service. Enter a URL of your app.";
  return undefined;
}

/** Returns the URL, or a sentence that says what is wrong. */
function parseWebAddress(uri: string): URL | string {
  const url = /^https?:\/\/[^/?]/.test(uri) && URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url) return "Enter a full URL with a host and a valid port, such as https://app.example.com/callback.";
  // A URL with userinfo can look as if it led to another host.
  if (/^https?:\/\/[^/?]*@/.test(uri)) return "Remove the username and password before the @.";
  return url;
}

function explainPrivateScheme(uri: string, scheme: string): string | undefined {
  if (FORBIDDEN_SCHEMES.has(scheme) || FORBIDDEN_SCHEME_SHAPES.test(scheme)) {
    return `The scheme ${scheme}: is not allowed. Use https, or your app's own scheme, such as com.example.app:/callback.`;
  }
  if (!uri.startsWith(`${scheme}:/`)) return `Add a slash after the colon, such as ${scheme}:/callback.`;
  if (/^[^:]+:\/\/[^/?]*@/.test(uri)) return "Remove the username and password before the @.";
  if (!URL.canParse(uri)) return `This is not a valid URL. Write it as ${scheme}:/callback or ${scheme}://callback.`;
  return undefined;
}

/**
 * Checks whether a URL leads to the service itself, where any user may have published the content.
 * @param url The URL.
 * @param ownOrigin The service's own origin.
 * @returns Whether the URL has the host of the service. On a loopback host, the port must be the same too.
 * @group Redirect URIs
 */
export function isOwnHost(url: URL, ownOrigin: string): boolean {
  const own = new URL(ownOrigin);
  const host = url.hostname.replace(/\.$/, "");
  // On this machine, all loopback names count as the service's host, but another port is another program.
  if (LOOPBACK_HOSTS.includes(own.hostname)) return LOOPBACK_HOSTS.includes(host) && portOf(url) === portOf(own);
  return host === own.hostname.replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

/**
 * Checks whether a requested redirect URI is one of the registered ones: the same string, or the same except for the port of an
 * `http` loopback address. A native app picks that port when it starts (S4). `localhost`, `127.0.0.1` and `[::1]` are different
 * hosts. The rules of {@link explainRedirectUri} apply again. They refuse a URI that older rules allowed (S5), and a
 * port that leads to the service itself (S20).
 * @param registered The app's redirect URIs.
 * @param requested The `redirect_uri` of the authorization request.
 * @param context The service's own origin, if it is known.
 * @returns Whether it may be used.
 * @see [RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)
 * @group Redirect URIs
 */
export function isRedirectUriAllowed(
  registered: readonly string[],
  requested: string,
  context: RedirectUriContext = {},
): boolean {
  if (explainRedirectUri(requested, context) !== undefined) return false;
  if (registered.includes(requested)) return true;
  const portless = withoutLoopbackPort(requested);
  return portless !== undefined && registered.some((uri) => withoutLoopbackPort(uri) === portless);
}

function withoutLoopbackPort(uri: string): string | undefined {
  const match = LOOPBACK.exec(uri);
  return match ? `${match[1]}${match[3]}` : undefined;
}

/**
 * Splits a text with one redirect URI on each line.
 * @param text The text of a form field.
 * @returns The URIs in their order, without blank lines and duplicates. Next, {@link explainRedirectUris} checks them.
 * @group Redirect URIs
 */
export function splitRedirectUris(text: string): string[] {
  return [...new Set(text.split(/[\r\n]+/).map((line) => line.trim()))].filter((line) => line !== "");
}

/**
 * Checks a list of redirect URIs with {@link explainRedirectUri}, and their number.
 * @param uris The URIs.
 * @param context The service's own origin, if it is known.
 * @returns `undefined` if all can be used, or a sentence about the first one that cannot.
 * @group Redirect URIs
 */
export function explainRedirectUris(uris: readonly string[], context: RedirectUriContext = {}): string | undefined {
  if (uris.length > REDIRECT_URI_MAX_COUNT) return `List at most ${REDIRECT_URI_MAX_COUNT} URLs.`;
  for (const uri of uris) {
    const problem = explainRedirectUri(uri, context);
    if (problem) return `${shorten(uri)}: ${problem}`;
  }
  return undefined;
}

function shorten(uri: string): string {
  // Other characters than printable ASCII can be invisible or change the direction of the text.
  const printable = uri.replace(/[^\x20-\x7e]/g, "\u{fffd}");
  return printable.length > 80 ? `${printable.slice(0, 79)}…` : printable;
}
