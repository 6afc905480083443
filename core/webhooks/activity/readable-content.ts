/** A stored body in a form that can be shown. */
export type Content = { text: string | null; base64: string | null; bytes: number; isCut: boolean };

/** Control characters that do not occur in text: a body with one is shown as bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NOT_IN_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/**
 * Returns a body as text if it is text, in the encoding of its `content-type` or else in UTF-8; otherwise as base64.
 * @param hide removes secrets from the text
 */
export function readableContent(
  body: Uint8Array,
  { contentType, isCut, hide }: { contentType: string | undefined; isCut: boolean; hide: (text: string) => string },
): Content {
  const text = decode(body, contentType, isCut);
  const isText = text !== null && !NOT_IN_TEXT.test(text);
  return {
    text: isText ? hide(text) : null,
    base64: isText ? null : Buffer.from(body).toString("base64"),
    bytes: body.length,
    isCut,
  };
}

function decode(body: Uint8Array, contentType: string | undefined, isCut: boolean): string | null {
  const label = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  try {
    // A cut body may end within a character, which is left out.
    return new TextDecoder(label, { fatal: true }).decode(body, { stream: isCut });
  } catch {
    return null;
  }
}
