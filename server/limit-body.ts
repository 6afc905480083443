import type { IncomingMessage } from "node:http";

/**
 * Counts a body as it arrives, whoever reads it and however it was sent: a length can be omitted, and Next reads up to its own limits,
 * which route handlers do not have.
 *
 * @param maxBytes asked again for each part that arrives: the sender may become known later.
 * @param exceeded is called once, at the first excess byte; the rest is read and dropped.
 */
export function limitBody(req: IncomingMessage, maxBytes: () => number, exceeded: () => void): void {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes()) {
    exceeded();
    return;
  }
  let received = 0;
  let isOver = false;
  const { push } = req;
  req.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array && !isOver) {
      received += chunk.length;
      isOver = received > maxBytes();
      if (isOver) exceeded();
    }
    return isOver || push.call(req, chunk, encoding);
  };
}
