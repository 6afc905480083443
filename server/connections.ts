import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/**
 * If the connection is already closed, `listener` is called soon.
 * @returns a function that stops listening
 */
export function whenClosed(connection: ServerResponse | Duplex, listener: () => void): () => void {
  // A closed connection does not emit `close` again.
  if (connection.closed) queueMicrotask(listener);
  connection.once("close", listener);
  return () => void connection.off("close", listener);
}

const FINISH_MS = 5_000;

export async function finishRequests(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), FINISH_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
