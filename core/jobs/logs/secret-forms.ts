/** Where programs break the lines of base64: `base64` and MIME, and PEM. */
const BASE64_COLUMNS = [76, 64];

/** What programs make of a text when they put it into an address, JSON or base64, one after the other (S134). */
export function* encodingsOf(text: string): Generator<string> {
  yield encodeURIComponent(text.toWellFormed());
  yield JSON.stringify(text).slice(1, -1);
  yield* inBase64(Buffer.from(text));
}

/** Base64 of a text that has the secret in it depends on where it begins, in three ways; of each, what depends on nothing else. */
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

/** What a program breaks into lines begins with the secret; one that is no longer than a line is not broken. */
function* withBroken(form: string, columns: number): Generator<string> {
  yield form;
  if (form.length <= columns) return;
  for (let at = 0; at < form.length; at += columns) yield form.slice(at, at + columns);
}
