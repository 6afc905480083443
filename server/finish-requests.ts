import type { Server } from "node:http";

const FINISH_MS = 5_000;

/** Takes no new connections, lets the requests under way finish, and cuts off what is still open after 5 seconds. */
export async function finishRequests(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection is idle, and can go, as soon as its last answer is out.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), FINISH_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
