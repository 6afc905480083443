import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { env } from "../../env.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";
import { GATEWAY_KEY_HEADER, readGatewayKey } from "./gateway-key.ts";
import { type Connect, type Passing, relay, relayUpgrade } from "./relay.ts";

/** What a gateway answers, beside a status, when the Space itself did not: why. */
export const GATEWAY_ANSWER_HEADER = "x-keyhook-gateway";

/**
 * Of one Space, from all web processes together; more is refused. It is for the worker's memory only: who gets how much of a Space is
 * decided where it is known who asks (server/spaces/pass-to-app.ts).
 */
export const REQUESTS_MAX = 512;

type Served = { connect: Connect; active: number; sockets: number; lastUsedAt: number };

/** Where a worker takes requests for the Spaces that it runs, and hands them to their doors. */
export type Gateway = {
  /** As other processes of ours reach it. */
  address: string;
  add(repoId: string, connect: Connect): void;
  remove(repoId: string): void;
  /** Since when nobody asks for it; undefined while somebody does. */
  idleSince(repoId: string): number | undefined;
  /** Since when nothing moves; undefined while a request is answered. A WebSocket over which nobody says anything is quiet. */
  quietSince(repoId: string): number | undefined;
  stop(): Promise<void>;
};

export async function startGateway(): Promise<Gateway> {
  const spaces = new Map<string, Served>();

  function find(req: IncomingMessage): Served | undefined {
    const repoId = readGatewayKey(req.headers[GATEWAY_KEY_HEADER]);
    return repoId === undefined ? undefined : spaces.get(repoId);
  }

  async function serve(req: IncomingMessage, res: ServerResponse, isBodyAwaited: boolean): Promise<void> {
    const space = find(req);
    if (!space) return say(res, 503, "absent");
    if (space.active >= REQUESTS_MAX) return say(res, 503, "busy");
    if (isBodyAwaited) res.writeContinue();
    await during(space, async () => {
      const passed = await relay(req, res, passingTo(space, req));
      if (passed === "answered") return;
      if (passed === "timed_out") say(res, 504, "timed_out");
      else say(res, 502, passed);
    });
  }

  // Its own limits are those of who relays to it: nothing here ends a stream that moves.
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0, headersTimeout: 60_000 });
  server.on("request", (req, res) => void serve(req, res, false));
  server.on("checkContinue", (req, res) => void serve(req, res, true));
  server.on("upgrade", (req, socket, head) => {
    // Node has just taken its own listener away: without one, a peer that resets the connection ends the worker.
    socket.on("error", () => socket.destroy());
    const space = find(req);
    const refuse = (why: string) =>
      socket.end(`HTTP/1.1 502 Bad Gateway\r\n${GATEWAY_ANSWER_HEADER}: ${why}\r\nConnection: close\r\n\r\n`);
    if (!space || space.active >= REQUESTS_MAX) return refuse(space ? "busy" : "absent");
    const onPiece = () => {
      space.lastUsedAt = Date.now();
    };
    space.sockets++;
    void during(space, () => relayUpgrade(req, socket, head, { ...passingTo(space, req), refuse, onPiece })).finally(() => {
      space.sockets--;
    });
  });
  const { host, port } = listenAddress();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const taken = (server.address() as AddressInfo).port;

  return {
    address: env().SPACES_ADDRESS ?? `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    add: (repoId, connect) => void spaces.set(repoId, { connect, active: 0, sockets: 0, lastUsedAt: Date.now() }),
    remove: (repoId) => void spaces.delete(repoId),
    idleSince(repoId) {
      const space = spaces.get(repoId);
      return space && space.active > 0 ? undefined : (space?.lastUsedAt ?? Date.now());
    },
    quietSince(repoId) {
      const space = spaces.get(repoId);
      return space && space.active > space.sockets ? undefined : (space?.lastUsedAt ?? Date.now());
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function during(space: Served, work: () => Promise<void>): Promise<void> {
  space.active++;
  try {
    await work();
  } finally {
    space.active--;
    space.lastUsedAt = Date.now();
  }
}

function passingTo({ connect }: Served, req: IncomingMessage): Passing {
  const { [GATEWAY_KEY_HEADER]: _, ...headers } = endToEnd(req.headers);
  const answer = (_: number, given: IncomingHttpHeaders) => {
    // What an app says of itself is not why we did not reach it.
    const { [GATEWAY_ANSWER_HEADER]: __, ...passed } = endToEnd(given);
    return passed;
  };
  return { upstream: { connect }, path: req.url ?? "/", headers, answer };
}

function say(res: ServerResponse, status: number, why: string): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status, { [GATEWAY_ANSWER_HEADER]: why, connection: "close" }).end();
}

function listenAddress(): { host: string; port: number } {
  const { SPACES_LISTEN } = env();
  const { hostname, port } = new URL(`tcp://${SPACES_LISTEN}`);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 0) };
}
