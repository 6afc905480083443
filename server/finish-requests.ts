import type { Server } from "node:http";

const FINISH_MS = 5_000;

/** Accepts no new connections, lets the requests under way finish, and closes what is still open after 5 seconds. */
export async function finishRequests(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection is idle, and can be closed, as soon as its last response is sent.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), FINISH_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
