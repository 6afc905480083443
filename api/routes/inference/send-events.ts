import type { Context } from "hono";

/**
 * Sends events as they arrive. The next one is requested once the client has read the last, so that a slow client slows the provider and
 * fills no memory here; a client that disconnects ends both (the request's signal).
 */
export function sendEvents(c: Context, events: AsyncGenerator<string, void, undefined>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
  return c.body(body, 200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store, no-transform",
    // Some proxies buffer responses unless told not to.
    "X-Accel-Buffering": "no",
  });
}
