import { isUtf8 } from "node:buffer";
import mime from "mime";

/** How a file of a repository is sent from our own origin. */
type ContentType = {
  /** For the header. */
  type: string;
  kind: "text" | "image" | "other";
};

/** Image formats that cannot contain a program. SVG can: it is served as text. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon"]);
const TEXTS =
  /^text\/|^application\/(.+\+)?(json|xml|javascript|yaml|toml|sql|x-sh|ecmascript|typescript|rtf|xhtml|x-httpd-php)$|\+(xml|json)$/;
export const SNIFFED_BYTES = 8_000;

/**
 * The content type of a file, by its name, or otherwise by its first bytes. Everything readable is text/plain, including HTML and
 * SVG: a browser shows it and runs nothing (S137).
 * @param start its first bytes, or all of them; undefined if only the name is known
 */
export function contentTypeOf(name: string, start?: Buffer): ContentType {
  const byName = mime.getType(name) ?? "";
  if (IMAGES.has(byName)) return { type: byName, kind: "image" };
  if (start ? isText(start) : TEXTS.test(byName)) return { type: "text/plain; charset=utf-8", kind: "text" };
  const isDangerous = byName === "" || TEXTS.test(byName) || byName.startsWith("image/");
  return { type: isDangerous ? "application/octet-stream" : byName, kind: "other" };
}

/** Whether the beginning of a file is UTF-8 text without a NUL, by which git recognizes binary files. */
export function isText(bytes: Buffer): boolean {
  const start = bytes.subarray(0, SNIFFED_BYTES);
  return !start.includes(0) && isUtf8(wholeCharacters(start, bytes.length > start.length));
}

/** The bytes; if they are cut, without the last character, which may be incomplete. */
function wholeCharacters(bytes: Buffer, isCut: boolean): Buffer {
  if (!isCut) return bytes;
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 4 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, Math.max(end - 1, 0));
}
