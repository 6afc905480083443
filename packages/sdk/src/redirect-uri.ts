/**
 * Which redirect URIs an OAuth app may have, and which registered one a request matches. Shared by the service, which decides,
 * and by the form that warns while one types. The rules: any `https`, `http` on this machine only (RFC 8252 §7.3), or a
 * private-use scheme (RFC 8252 §7.1); compared as plain strings (RFC 9700 §2.1) but for the port of a loopback address.
 * Post-logout redirect URIs follow the same rules.
 */

export const REDIRECT_URI_MAX_CHARACTERS = 2000;
export const REDIRECT_URI_MAX_COUNT = 50;

export type RedirectUriContext = {
  /** The service's own origin: an app may not send people back to us, which would make us an open redirector (S20). */
  ownOrigin?: string;
};

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

// The authority is matched as written, since a URL parser would turn 127.1 or 2130706433 into 127.0.0.1.
const LOOPBACK = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;

// Schemes that run script, read files, open another program's documents or are web addresses in disguise (S5).
const FORBIDDEN_SCHEMES = new Set(
  `about acap blob cap cid chrome chrome-extension chrome-search chrome-untrusted content data devtools dns edge feed file
  filesystem ftp ftps geo git gopher imap intent irc ircs jar javascript jdbc ldap ldaps livescript mailto magnet mhtml mid mocha
  moz-extension news nfs nntp opera pop resource rtsp safari-extension search search-ms sftp sip sips smb sms smsto ssh svn tel
  telnet urn vbscript view-source wais ws wss wyciwyg xmpp`.split(/\s+/),
);
const FORBIDDEN_SCHEME_SHAPES = /http|^hxxp|^ms-|^x-javascript|script$/;

/**
 * Why `uri` cannot be a redirect URI, as a sentence that says what to do; `undefined` when it can.
 */
export function explainRedirectUri(uri: string, { ownOrigin }: RedirectUriContext = {}): string | undefined {
  if (uri === "") return "Enter an address, such as https://app.example.com/callback.";
  if (uri.length > REDIRECT_URI_MAX_CHARACTERS) return `Shorten it to at most ${REDIRECT_URI_MAX_CHARACTERS} characters.`;
  if (!/^[\x21-\x7e]+$/.test(uri)) {
    return "Use only ASCII characters without spaces: write others percent-encoded, and an international host name as xn--….";
  }
  if (/[\\^`{|}<>"]/.test(uri)) return 'Percent-encode the characters \\ ^ ` { | } < > and ".';
  if (uri.includes("#")) return "Remove the fragment: nothing may follow a #.";
  if (uri.includes("*")) return "Wildcards do not work: list each address in full.";
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
  if (ownOrigin && isOwnHost(url, ownOrigin)) return "This is our own address: enter one of your app's.";
  return undefined;
}

function explainHttp(uri: string, ownOrigin: string | undefined): string | undefined {
  const url = parseWebAddress(uri);
  if (typeof url === "string") return url;
  if (!LOOPBACK.test(uri)) {
    return `Use https: plain http is only for ${LOOPBACK_HOSTS.join(", ")}, written exactly so.`;
  }
  if (ownOrigin && isOwnHost(url, ownOrigin)) return "This is our own address: enter one of your app's.";
  return undefined;
}

/** The parsed address, or why it is none. */
function parseWebAddress(uri: string): URL | string {
  const url = /^https?:\/\/[^/?]/.test(uri) && URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url) return "Write a full address with a host and a valid port, such as https://app.example.com/callback.";
  // Userinfo makes an address read as another host than it leads to.
  if (/^https?:\/\/[^/?]*@/.test(uri)) return "Remove the user name and password before the @.";
  return url;
}

function explainPrivateScheme(uri: string, scheme: string): string | undefined {
  if (FORBIDDEN_SCHEMES.has(scheme) || FORBIDDEN_SCHEME_SHAPES.test(scheme)) {
    return `The scheme ${scheme}: is not allowed. Use https, or your app's own scheme, such as com.example.app:/callback.`;
  }
  if (!uri.startsWith(`${scheme}:/`)) return `Add a slash after the colon, such as ${scheme}:/callback.`;
  if (/^[^:]+:\/\/[^/?]*@/.test(uri)) return "Remove the user name and password before the @.";
  if (!URL.canParse(uri)) return `This is not a valid address. Write it as ${scheme}:/callback or ${scheme}://callback.`;
  return undefined;
}

function isOwnHost(url: URL, ownOrigin: string): boolean {
  const own = new URL(ownOrigin);
  const host = url.hostname.replace(/\.$/, "");
  // On this machine other ports are other programs, under whichever of its names.
  if (LOOPBACK_HOSTS.includes(own.hostname)) return LOOPBACK_HOSTS.includes(host) && portOf(url) === portOf(own);
  return host === own.hostname.replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

/**
 * Whether a requested redirect URI is one of the registered ones: the same string, or the same but for the port of an `http`
 * loopback address, which a native app picks as it starts (RFC 8252 §7.3, S4). `localhost`, `127.0.0.1` and `[::1]` do not
 * stand for one another. The rules are applied anew at use, so that an address registered under older ones does not survive
 * them (S5), and the free port cannot lead to our own (S20).
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

/** The redirect URIs typed one per line; blank lines and repetitions are left out. */
export function splitRedirectUris(text: string): string[] {
  return [...new Set(text.split(/[\r\n]+/).map((line) => line.trim()))].filter((line) => line !== "");
}

/** The first thing wrong with a list of redirect URIs, with the address at fault; `undefined` when nothing is. */
export function explainRedirectUris(uris: readonly string[], context: RedirectUriContext = {}): string | undefined {
  if (uris.length > REDIRECT_URI_MAX_COUNT) return `Keep at most ${REDIRECT_URI_MAX_COUNT} addresses.`;
  for (const uri of uris) {
    const problem = explainRedirectUri(uri, context);
    if (problem) return `${shorten(uri)}: ${problem}`;
  }
  return undefined;
}

function shorten(uri: string): string {
  // The address is shown back: what does not print, or turns text around, is not.
  const printable = uri.replace(/[^\x20-\x7e]/g, "\u{fffd}");
  return printable.length > 80 ? `${printable.slice(0, 79)}…` : printable;
}
