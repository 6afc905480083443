import sharp from "sharp";
import { invalidRequest, ServiceError } from "../errors.ts";
import { fairQueue } from "../fair-queue/fair-queue.ts";

export const IMAGE_CONTENT_TYPE = "image/webp";

const IMAGE_MAX_BYTES = 5 * 1024 * 1024;

/** A small file can expand to gigabytes. */
const IMAGE_MAX_PIXELS = 40_000_000;

const IMAGE_SIDE_PIXELS = 256;

/** A malicious picture must not block a thread. */
const IMAGE_MAX_SECONDS = 10;

// Decoding runs in libuv's four threads, which also serve files and name lookups.
const decoding = fairQueue({ name: "images", slots: 2 });

/** The result has no metadata, such as the place of a photo, and no hidden content of the upload (S24, S82). */
export async function encodeImage(
  bytes: Uint8Array,
  field = "image",
  maxPixels = IMAGE_MAX_PIXELS,
): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.byteLength > IMAGE_MAX_BYTES) {
    throw new ServiceError("payload_too_large", "Choose a picture of at most 5 MB.", { field });
  }
  const format = sniffImageFormat(bytes);
  if (!format) throw invalidRequest("Choose a PNG, JPEG, WebP, GIF or AVIF picture.", field);
  return decoding.run(() => decode(bytes, field, maxPixels));
}

type Format = "png" | "jpeg" | "webp" | "gif" | "avif";

/** Few formats are accepted, because each decoder can be attacked, and SVG can contain script. */
function sniffImageFormat(bytes: Uint8Array): Format | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  if (head.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex"))) return "png";
  if (head.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex"))) return "jpeg";
  const ascii = head.toString("latin1");
  if (ascii.startsWith("RIFF") && ascii.slice(8, 12) === "WEBP") return "webp";
  if (ascii.startsWith("GIF87a") || ascii.startsWith("GIF89a")) return "gif";
  if (ascii.slice(4, 8) === "ftyp" && /^(avif|avis)$/.test(ascii.slice(8, 12))) return "avif";
  return undefined;
}

async function decode(bytes: Uint8Array, field: string, maxPixels: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // `autoOrient` applies the EXIF orientation before EXIF is dropped.
    const picture = sharp(bytes, { limitInputPixels: maxPixels, failOn: "error", pages: 1, autoOrient: true });
    const encoded = await picture
      .resize(IMAGE_SIDE_PIXELS, IMAGE_SIDE_PIXELS, { fit: "cover" })
      .webp({ quality: 85 })
      .timeout({ seconds: IMAGE_MAX_SECONDS })
      .toBuffer();
    return Uint8Array.from(encoded);
  } catch (cause) {
    throw new ServiceError(
      "invalid_request",
      `This picture cannot be read or has more than ${Math.floor(maxPixels / 1_000_000)} megapixels. Choose another.`,
      {
        field,
        cause,
      },
    );
  }
}
