/** The columns per line: 76 for `base64` and MIME, 64 for PEM. */
const BASE64_COLUMNS = [76, 64];
const HEX_COLUMNS = 60;
/** The digits of fewer bytes would match too many numbers. */
const HEX_SHORTEST_BYTES = 8;

/** See S134. */
export function* encodingsOf(text: string): Generator<string> {
  yield* inUrls(text.toWellFormed());
  yield* inJson(text);
  const bytes = Buffer.from(text);
  yield* inBase64(bytes);
  if (bytes.length < HEX_SHORTEST_BYTES) return;
  const hex = bytes.toString("hex");
  for (const form of [hex, hex.toUpperCase()]) yield* withBroken(form, HEX_COLUMNS);
}

function* inUrls(text: string): Generator<string> {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const url = new URL("http://localhost");
  url.password = text;
  const forms = [
    component,
    // RFC 3986. Python and Go encode in this way, but Python leaves slashes.
    strict,
    strict.replaceAll("%2F", "/"),
    // Form encoding. Only browsers and Java encode "~".
    strict.replaceAll("%20", "+"),
    new URLSearchParams([["", text]]).toString().slice("=".length),
    url.password,
  ];
  for (const form of new Set(forms)) {
    yield form;
    yield form.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  }
}

/** PHP escapes slashes, and Go escapes the characters of HTML. Python leaves only ASCII. */
function* inJson(text: string): Generator<string> {
  const plain = JSON.stringify(text).slice(1, -1);
  const escaped = (which: RegExp, asHex = (hex: string) => hex) =>
    plain.replace(which, (unit) => `\\u${asHex(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`);
  const ascii = escaped(/[^\0-\x7f]/g);
  for (const form of [plain, ascii]) {
    yield form;
    yield form.replaceAll("/", "\\/");
  }
  yield escaped(/[^\0-\x7f]/g, (hex) => hex.toUpperCase());
  yield escaped(/[<>&\u2028\u2029]/g);
}

/** The base64 of a secret depends on the secret's offset modulo three, and at both ends on the text around the secret. */
function* inBase64(bytes: Buffer): Generator<string> {
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = before === 0 ? 0 : before + 1;
    const form = encoded.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
    yield form.replaceAll("+", "-").replaceAll("/", "_");
    if (before > 0) yield form;
    else for (const columns of BASE64_COLUMNS) yield* withBroken(form, columns);
  }
}

function* withBroken(form: string, columns: number): Generator<string> {
  yield form;
  if (form.length <= columns) return;
  for (let at = 0; at < form.length; at += columns) yield form.slice(at, at + columns);
}
