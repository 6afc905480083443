import type { IncomingMessage } from "node:http";
import { ServiceError } from "#core/errors.ts";
import { watchPace } from "#core/http/pace.ts";
import { requestContext } from "#core/log.ts";

/** After this time without data, an upload counts as abandoned. */
const IDLE_MS = 60_000;

/** The maximum time without data for an upload that occupies a slot. */
const GRACE_MS = 60_000;

/**
 * The bytes of a body as they arrive, in pieces, each of which is valid until the next one is requested. If a request ends too early, that
 * is an abandoned upload, not an error of the service.
 */
export async function* bytesOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  incoming.setTimeout(IDLE_MS, () => incoming.destroy());
  // A sender that occupies a slot must be quick while others wait for it (S137).
  const yields = requestContext.getStore()?.yields;
  const stopWatching =
    yields && watchPace({ ...paceOf(incoming), yields, graceMs: GRACE_MS, onTooSlow: () => incoming.destroy() });
  try {
    // Other code reads the rest of a rejected body, so that its sender can read the response.
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

/**
 * Node allocates memory for each piece. If it waits for the garbage collector, that marks the whole heap after every 64 MB which arrive: half
 * of the processor time of an upload.
 */
function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
}

const paceOf = (incoming: IncomingMessage) => ({
  bytes: () => incoming.socket.bytesRead,
  // Data that we have not read yet does not count as the client's delay.
  isWaiting: () => !incoming.complete && incoming.readableLength < incoming.readableHighWaterMark,
});
