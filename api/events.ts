import type { Context } from "hono";

/** Requests an event only after the client has read the previous one. Otherwise a slow client would fill our memory. */
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
    // Without this header, some proxies buffer the response.
    "X-Accel-Buffering": "no",
  });
}

/** JSON allows U+2028 in a string, but the Python client splits lines at this character. */
export function eventOf(data: unknown, name?: string): string {
  const json = JSON.stringify(data).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${name ? `event: ${name}\n` : ""}data: ${json}\n\n`;
}
