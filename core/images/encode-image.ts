import sharp from "sharp";
import { ServiceError } from "../errors.ts";
import { fairQueue } from "../fair-queue/fair-queue.ts";
import { IMAGE_MAX_BYTES, IMAGE_MAX_PIXELS, IMAGE_MAX_SECONDS, IMAGE_SIDE_PIXELS, sniffImageFormat } from "./image-rules.ts";

export const IMAGE_CONTENT_TYPE = "image/webp";

// Decoding runs in libuv's four threads, which also serve files and name lookups: pictures never take more than half of them.
const decoding = fairQueue({ name: "images", places: 2 });

/**
 * Makes our own picture from an upload (S24, S82): 256×256 WebP, the middle of the upright original. Nothing of the file itself is stored,
 * so neither its metadata (EXIF contains where a photo was taken) nor anything hidden in it is ever served.
 * @throws ServiceError `payload_too_large` over 5 MB; `invalid_request` for anything but a PNG, JPEG, WebP, GIF or AVIF picture of at most
 * 40 megapixels, or fewer if the caller says so; `unavailable` while too many others are decoded
 */
export async function encodeImage(
  bytes: Uint8Array,
  field = "image",
  maxPixels = IMAGE_MAX_PIXELS,
): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.byteLength > IMAGE_MAX_BYTES) {
    throw new ServiceError("payload_too_large", "Choose a picture of at most 5 MB.", { field });
  }
  const format = sniffImageFormat(bytes);
  if (!format) throw new ServiceError("invalid_request", "Choose a PNG, JPEG, WebP, GIF or AVIF picture.", { field });
  return decoding.run(() => decode(bytes, field, maxPixels));
}

async function decode(bytes: Uint8Array, field: string, maxPixels: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // Read by libvips once, first frame only; autoOrient applies the EXIF orientation before it is dropped.
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
      `This picture cannot be read, or has more than ${Math.floor(maxPixels / 1_000_000)} megapixels. Choose another.`,
      {
        field,
        cause,
      },
    );
  }
}
