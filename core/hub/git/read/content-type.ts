import { isUtf8 } from "node:buffer";
import mime from "mime";

type ContentType = {
  type: string;
  kind: "text" | "image" | "other";
};

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon"]);
const TEXTS =
  /^text\/|^application\/(.+\+)?(json|xml|javascript|yaml|toml|sql|x-sh|ecmascript|typescript|rtf|xhtml|x-httpd-php)$|\+(xml|json)$/;
export const SNIFFED_BYTES = 8_000;

/** HTML and SVG become text/plain, so that a browser runs nothing (S137). Without `start`, only the name decides. */
export function contentTypeOf(name: string, start?: Buffer): ContentType {
  const byName = mime.getType(name) ?? "";
  if (IMAGES.has(byName)) return { type: byName, kind: "image" };
  if (start ? isText(start) : TEXTS.test(byName)) return { type: "text/plain; charset=utf-8", kind: "text" };
  const isDangerous = byName === "" || TEXTS.test(byName) || byName.startsWith("image/");
  return { type: isDangerous ? "application/octet-stream" : byName, kind: "other" };
}

export function isText(bytes: Buffer): boolean {
  const start = bytes.subarray(0, SNIFFED_BYTES);
  return !start.includes(0) && isUtf8(wholeCharacters(start, bytes.length > start.length));
}

/** The last character of a cut text may be incomplete. */
function wholeCharacters(bytes: Buffer, isCut: boolean): Buffer {
  if (!isCut) return bytes;
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 4 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, Math.max(end - 1, 0));
}
