import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSigned, sign } from "../../crypto/seal.ts";
import { env } from "../../env.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";
import { type Connect, type Passing, passOn, passOnUpgrade } from "./proxy.ts";

export const GATEWAY_ANSWER_HEADER = "x-keyhook-gateway";

/** The limit protects the worker's memory. The web processes share their slots fairly among callers. */
export const REQUESTS_MAX = 512;

const PARTIES_MAX = 64;

/** `lastAt` is the time at which the caller last sent or received anything. */
type Use = { requests: number; lastAt: number };
type Served = { connect: Connect; active: number; lastUsedAt: number; since: number; uses: Map<string, Use> };

export type Gateway = {
  address: string;
  add(repoId: string, connect: Connect): void;
  remove(repoId: string): void;
  idleSince(repoId: string): number | undefined;
  /**
   * An idle WebSocket does not count as use.
   * @returns undefined if the Space does not accept requests yet
   */
  usesOf(repoId: string): { since: number; lastBy: ReadonlyMap<string, number> } | undefined;
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
    if (!space) return respond(res, 503, "absent");
    if (space.active >= REQUESTS_MAX) return respond(res, 503, "busy");
    if (isBodyAwaited) res.writeContinue();
    const use = noteUse(space, req);
    use.requests++;
    await during(space, use, async () => {
      const passed = await passOn(req, res, passingTo(space, req));
      if (passed === "answered") return;
      if (passed === "timed_out") respond(res, 504, "timed_out");
      else respond(res, 502, passed);
    }).finally(() => {
      use.requests--;
    });
  }

  // The web process has its own limits, so the gateway does not end a stream that makes progress.
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0, headersTimeout: 60_000 });
  server.on("request", (req, res) => void serve(req, res, false));
  server.on("checkContinue", (req, res) => void serve(req, res, true));
  server.on("upgrade", (req, socket, head) => {
    // Node has just removed its own listener, and a reset connection would end the worker.
    socket.on("error", () => socket.destroy());
    const space = find(req);
    const refuse = (why: string) =>
      socket.end(`HTTP/1.1 502 Bad Gateway\r\n${GATEWAY_ANSWER_HEADER}: ${why}\r\nConnection: close\r\n\r\n`);
    if (!space || space.active >= REQUESTS_MAX) return refuse(space ? "busy" : "absent");
    const use = noteUse(space, req);
    const onPiece = () => note(space, use);
    void during(space, use, () => passOnUpgrade(req, socket, head, { ...passingTo(space, req), refuse, onPiece }));
  });
  const { host, port } = listenAddress();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const taken = (server.address() as AddressInfo).port;

  return {
    address: env().SPACES_ADDRESS ?? `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    add(repoId, connect) {
      const now = Date.now();
      spaces.set(repoId, { connect, active: 0, lastUsedAt: now, since: now, uses: new Map() });
    },
    remove: (repoId) => void spaces.delete(repoId),
    idleSince(repoId) {
      const space = spaces.get(repoId);
      return space && space.active > 0 ? undefined : (space?.lastUsedAt ?? Date.now());
    },
    usesOf(repoId) {
      const space = spaces.get(repoId);
      const lastOf = ({ requests, lastAt }: Use) => (requests > 0 ? Date.now() : lastAt);
      return space && { since: space.since, lastBy: new Map([...space.uses].map(([party, use]) => [party, lastOf(use)])) };
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function during(space: Served, use: Use, work: () => Promise<void>): Promise<void> {
  space.active++;
  try {
    await work();
  } finally {
    space.active--;
    note(space, use);
  }
}

function note(space: Served, use: Use): void {
  use.lastAt = Date.now();
  space.lastUsedAt = use.lastAt;
}

function noteUse({ uses }: Served, req: IncomingMessage): Use {
  const party = String(req.headers[PARTY_HEADER] ?? "unknown");
  const use = uses.get(party) ?? { requests: 0, lastAt: 0 };
  use.lastAt = Date.now();
  uses.delete(party);
  uses.set(party, use);
  const [first] = uses.keys();
  if (uses.size > PARTIES_MAX && first !== undefined) uses.delete(first);
  return use;
}

function passingTo({ connect }: Served, req: IncomingMessage): Passing {
  const { [GATEWAY_KEY_HEADER]: _, [PARTY_HEADER]: __, ...headers } = endToEnd(req.headers);
  const answer = (_: number, given: IncomingHttpHeaders) => {
    // Only the gateway may set this header.
    const { [GATEWAY_ANSWER_HEADER]: ___, ...passed } = endToEnd(given);
    return passed;
  };
  return { upstream: { connect }, path: req.url ?? "/", headers, answer };
}

function respond(res: ServerResponse, status: number, why: string): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status, { [GATEWAY_ANSWER_HEADER]: why, connection: "close" }).end();
}

function listenAddress(): { host: string; port: number } {
  const { SPACES_LISTEN } = env();
  const { hostname, port } = new URL(`tcp://${SPACES_LISTEN}`);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 0) };
}

/** The header's value has the Space, the time, and a MAC of both under SECRET_KEY. */
export const GATEWAY_KEY_HEADER = "x-keyhook-space";

/** Names the caller, because the number of Spaces that one caller can keep busy is limited. */
export const PARTY_HEADER = "x-keyhook-party";

/** Clocks of machines differ, but a leaked key must soon be worthless. */
const KEY_SECONDS = 120;

export function gatewayKey(repoId: string, now = Date.now()): string {
  const message = `${repoId}.${Math.floor(now / 1000)}`;
  return `${message}.${sign(PURPOSE, message)}`;
}

function readGatewayKey(key: string | string[] | undefined, now = Date.now()): string | undefined {
  const [repoId = "", seconds = "", given = ""] = String(key ?? "").split(".");
  if (!isSigned(PURPOSE, `${repoId}.${seconds}`, given)) return undefined;
  return Math.abs(now / 1000 - Number(seconds)) <= KEY_SECONDS ? repoId : undefined;
}

const PURPOSE = "space gateway";
