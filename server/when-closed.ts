import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Calls `listener` once an answer is over or its client is gone, also where it is already. @returns stops listening */
export function whenClosed(connection: ServerResponse | Duplex, listener: () => void): () => void {
  // It tells of its end only once.
  if (connection.closed) queueMicrotask(listener);
  connection.once("close", listener);
  return () => void connection.off("close", listener);
}
