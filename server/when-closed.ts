import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Calls `listener` once a response is over or its client has disconnected, even if it already has. @returns stops listening */
export function whenClosed(connection: ServerResponse | Duplex, listener: () => void): () => void {
  // It emits its end only once.
  if (connection.closed) queueMicrotask(listener);
  connection.once("close", listener);
  return () => void connection.off("close", listener);
}
