import { isServiceError } from "#core/errors.ts";
import { encodeImage } from "#core/images/encode-image.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/loggable-address.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { allowedPorts } from "./document-address.ts";

export const LOGO_MAX_BYTES = 256 * 1024;
export const LOGO_DEADLINE_MS = 3_000;
/** Anyone can make us decode a logo; 2,048 pixels each way is still eight times larger than what is shown. */
const LOGO_MAX_PIXELS = 2_048 * 2_048;

/**
 * Fetches the image at a document's `logo_uri` through the same guard, and re-encodes it (S82).
 * @returns undefined if there is no image that can be shown: an app is never refused for its logo
 */
export async function fetchLogo(logoUri: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const result = await sendRequest({
    url: logoUri,
    headers: { accept: "image/webp,image/png,image/jpeg,image/avif,image/gif" },
    deadlineMs: LOGO_DEADLINE_MS,
    maxBodyBytes: LOGO_MAX_BYTES,
    onExcess: "fail",
    ports: allowedPorts(),
    isHttpsRequired: true,
  });
  if (result.outcome !== "answered" || result.status !== 200) {
    log().info(
      { address: loggableAddress(logoUri), reason: result.outcome === "answered" ? result.status : result.reason },
      "a logo cannot be fetched",
    );
    return undefined;
  }
  try {
    return await encodeImage(result.body, "logo_uri", LOGO_MAX_PIXELS);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    log().info({ address: loggableAddress(logoUri), reason: error.message }, "a logo cannot be shown");
    return undefined;
  }
}
