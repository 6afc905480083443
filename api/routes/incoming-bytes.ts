import type { IncomingMessage } from "node:http";
import { ServiceError } from "#core/errors.ts";
import { watchPace } from "#core/http/pace.ts";
import { requestContext } from "#core/log.ts";

const IDLE_MS = 60_000;

/** How long the sender of an upload that occupies a slot may send nothing. */
const GRACE_MS = 60_000;

/** A piece is valid until the next one is requested. An early end is an abandoned upload, not our error. */
export async function* bytesOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  incoming.setTimeout(IDLE_MS, () => incoming.destroy());
  // A sender that occupies a slot must be quick while others wait for the slot (S137).
  const mustYield = requestContext.getStore()?.mustYield;
  const stopWatching =
    mustYield && watchPace({ ...paceOf(incoming), mustYield, graceMs: GRACE_MS, onTooSlow: () => incoming.destroy() });
  try {
    // Other code reads the rest of the body, so that the sender can read the response.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      yield chunk as Buffer;
      freeMemory(chunk as Buffer);
    }
  } catch (cause) {
    throw new ServiceError("invalid_request", "The upload was interrupted. Upload it again.", { cause });
  } finally {
    stopWatching?.();
    incoming.setTimeout(0);
  }
}

/** Frees the memory at once, because the garbage collector would mark the whole heap after every 64 MB of data. */
function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
}

const paceOf = (incoming: IncomingMessage) => ({
  bytes: () => incoming.socket.bytesRead,
  // While received data waits unread, the client is not the slow side.
  isWaiting: () => !incoming.complete && incoming.readableLength < incoming.readableHighWaterMark,
});
