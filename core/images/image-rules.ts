/** Largest upload, in bytes: 5 MB. */
export const IMAGE_MAX_BYTES = 5 * 1024 * 1024;

/** Largest picture, in pixels: a small file can expand to gigabytes (decompression bomb). */
export const IMAGE_MAX_PIXELS = 40_000_000;

/** Avatars and logos are squares of this many pixels. */
export const IMAGE_SIDE_PIXELS = 256;

/** A malicious picture must not block a thread: decoding is aborted after this many seconds. */
export const IMAGE_MAX_SECONDS = 10;

type Format = "png" | "jpeg" | "webp" | "gif" | "avif";

/**
 * The format according to a file's first bytes; undefined for all but the five that are accepted. Only those reach a decoder: SVG can
 * contain script and read other files, and every further decoder is one more that a malicious file can attack.
 */
export function sniffImageFormat(bytes: Uint8Array): Format | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  if (head.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex"))) return "png";
  if (head.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex"))) return "jpeg";
  const ascii = head.toString("latin1");
  if (ascii.startsWith("RIFF") && ascii.slice(8, 12) === "WEBP") return "webp";
  if (ascii.startsWith("GIF87a") || ascii.startsWith("GIF89a")) return "gif";
  if (ascii.slice(4, 8) === "ftyp" && /^(avif|avis)$/.test(ascii.slice(8, 12))) return "avif";
  return undefined;
}
