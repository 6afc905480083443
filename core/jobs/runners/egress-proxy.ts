import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { Duplex } from "node:stream";
import ipaddr from "ipaddr.js";
import { env } from "../../env.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";
import { limitInterimResponses, passBody } from "../../http/pass-body.ts";
import { type AllowAddress, isAllowedAddress } from "../../outbound/is-allowed-address.ts";
import { openTunnel } from "../../outbound/open-tunnel.ts";
import { failureOf } from "../../outbound/request.ts";
import type { Task } from "./runner.ts";

/** The maximum number of open connections from a sandbox, and of outgoing connections opened for them. */
const CONNECTIONS_MAX = 64;
/**
 * How many connections are served within `SERVED_MS`. Other connections wait for their turn: each takes up to a millisecond of the worker's
 * event loop, and a program that opens them in a loop would use it up (S132).
 */
const SERVED_MAX = 20;
const SERVED_MS = 100;
/**
 * How many connections may be dropped within `DROPPED_MS` because too many are open. Closing them also takes time on the event loop, and
 * Node cannot stop accepting for a while, so the job is cut off instead.
 */
const DROPPED_MAX = 5_000;
const DROPPED_MS = 10_000;
/** How long new connections of a job are closed unread after it has pipelined requests. */
const PIPELINED_PAUSE_MS = 1_000;
export const IDLE_MS = 5 * 60_000;

/** The port on a sandbox's loopback at which programs find this proxy, and the variables that point them there. */
export const PROXY_PORT = 3128;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
export const proxyVariables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map((name) => [name, PROXY]),
  ),
  no_proxy: "localhost,127.0.0.1,::1",
  NO_PROXY: "localhost,127.0.0.1,::1",
  NODE_USE_ENV_PROXY: "1",
};

export type EgressProxy = {
  /** Serves a connection that did not arrive by the socket. The caller closes it when it is idle. */
  take(connection: Duplex): void;
  /** Resolves when the sandbox opened too many connections; nothing is served after that. */
  cutOff: Promise<void>;
  close(): void;
};

/**
 * The only way out of a sandbox without a network: an HTTP proxy (CONNECT for encrypted traffic). It reaches what this service's own
 * requests may reach (S117, S118), and this service itself. It never reaches anything else that listens on this machine, whatever the
 * operator allows for webhooks (S132).
 * @param task gets a note if it is cut off
 * @param socketPath where it listens in the file system; without it, the proxy serves only connections that are given to `take`
 */
export async function openEgressProxy({ onNote }: Pick<Task, "onNote">, socketPath?: string): Promise<EgressProxy> {
  const sockets = new Set<Duplex>();
  const taken = new Set<Duplex>();
  const waiting = new Set<Duplex>();
  let outside = 0;
  let served = 0;
  let [dropped, droppedUntil] = [0, 0];
  const cutOff = Promise.withResolvers<void>();
  // No program that we know of sends a second request through the same connection. Reading and refusing thousands of them would block the
  // worker's other jobs (S137).
  let refusesUntil = 0;

  const keep = <Kept extends Duplex>(socket: Kept): Kept => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };

  const open: Open = async (target, inside) => {
    // Outgoing connections that the program has abandoned also count: they may still be closing, or waiting for a name server.
    if (outside >= CONNECTIONS_MAX) throw FULL;
    outside++;
    const left = new AbortController();
    inside.once("close", () => left.abort());
    try {
      const socket = keep(await openTunnel(target, { allows: allowedFrom(target), signal: left.signal }));
      socket.once("close", () => outside--);
      return socket;
    } catch (error) {
      outside--;
      throw error;
    }
  };

  const server = createHttpServer((incoming, answer) => void passOn(incoming, answer, open));
  // Node emits all requests pipelined through one connection at once, and each would open a connection outside.
  server.maxRequestsPerSocket = 1;
  server.on("dropRequest", (_, socket) => {
    refusesUntil = performance.now() + PIPELINED_PAUSE_MS;
    socket.destroy();
  });
  server.on("connect", (incoming: IncomingMessage, inside: Duplex, head: Buffer) => void tunnel(incoming, inside, head, open));

  function serve(): void {
    for (const socket of waiting) {
      if (served >= SERVED_MAX) return;
      waiting.delete(socket);
      if (performance.now() < refusesUntil) {
        socket.destroy();
        continue;
      }
      served++;
      if (served === 1)
        setTimeout(() => {
          served = 0;
          serve();
        }, SERVED_MS);
      server.emit("connection", socket);
      socket.resume();
    }
  }

  const arrive = (socket: Duplex): void => {
    if (keep(socket) instanceof Socket) (socket as Socket).setTimeout(IDLE_MS, () => socket.destroy());
    waiting.add(socket);
    socket.once("close", () => waiting.delete(socket));
    serve();
  };

  // Paused, so that an abandoned connection keeps its slot until its turn: a program that opens them in a loop has to wait.
  const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true }, arrive);
  listener.maxConnections = CONNECTIONS_MAX;
  function countDropped(): void {
    const now = performance.now();
    if (now >= droppedUntil) [dropped, droppedUntil] = [0, now + DROPPED_MS];
    dropped++;
    if (dropped !== DROPPED_MAX) return;
    onNote(`The job opened too many connections and was disconnected from the network: at most ${CONNECTIONS_MAX} can be open.`);
    close();
    cutOff.resolve();
  }
  listener.on("drop", countDropped);

  function close(): void {
    listener.close();
    for (const socket of sockets) socket.destroy();
  }

  if (socketPath !== undefined) {
    await new Promise<void>((listening, failed) => {
      listener.on("error", failed);
      listener.listen({ path: socketPath, writableAll: true, readableAll: true }, listening);
    });
  }
  return {
    take(connection) {
      // Applies `maxConnections`, which Node enforces only for connections to the listener.
      if (taken.size >= CONNECTIONS_MAX) {
        connection.destroy();
        return countDropped();
      }
      taken.add(connection);
      connection.once("close", () => taken.delete(connection));
      arrive(connection);
    },
    cutOff: cutOff.promise,
    close,
  };
}

/** Opens an outgoing connection, unless the connection that it is for has closed meanwhile. */
type Open = (target: { host: string; port: number }, inside: Duplex | ServerResponse) => Promise<Socket>;

async function tunnel(incoming: IncomingMessage, inside: Duplex, head: Buffer, open: Open): Promise<void> {
  try {
    const outside = await open(targetOf(`http://${incoming.url}`), inside);
    if (inside.destroyed) return void outside.destroy();
    inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) outside.write(head);
    outside.once("close", () => inside.destroy());
    inside.once("close", () => outside.destroy());
    outside.pipe(inside).pipe(outside);
  } catch (error) {
    const { status, text } = refusalOf(error);
    const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}`;
    inside.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${text}`);
  }
}

async function passOn(incoming: IncomingMessage, answer: ServerResponse, open: Open): Promise<void> {
  try {
    const url = new URL(incoming.url ?? "");
    if (url.protocol !== "http:") throw new TypeError("URLs other than http:// require CONNECT");
    const socket = await open(targetOf(url.href), answer);
    const framing = incoming.headers["transfer-encoding"] !== undefined && { "transfer-encoding": "chunked" };
    const outgoing = httpRequest(
      {
        createConnection: () => socket,
        method: incoming.method,
        path: `${url.pathname}${url.search}`,
        // Without `endToEnd`, a header such as `Trailer` would make Node throw when the body ends, outside this `try`, which would end the
        // worker.
        headers: { ...endToEnd(incoming.headers), ...framing, connection: "close" },
      },
      (answered) => {
        answered.on("error", () => answer.destroy());
        try {
          answer.writeHead(answered.statusCode ?? 502, endToEnd(answered.headers));
        } catch {
          // A header or a status that Node reads but refuses to write: that exception would end the worker.
          answer.destroy();
          return;
        }
        void passBody(answered, answer);
      },
    );
    limitInterimResponses(outgoing).on("error", () => answer.destroy());
    // The program may close its connection at any time; then the outgoing one is closed too.
    answer.once("close", () => outgoing.destroy());
    if (answer.destroyed) outgoing.destroy();
    void passBody(incoming, outgoing);
  } catch (error) {
    const { status, text } = refusalOf(error);
    answer.writeHead(status, { "content-type": "text/plain" }).end(text);
  }
}

function targetOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname, port: Number(port || 80) };
}

/** A job may reach this service, as everybody may, but no other address of this machine. */
function allowedFrom({ host, port }: { host: string; port: number }): AllowAddress {
  const own = new URL(env().ORIGIN);
  const ownPort = Number(own.port || (own.protocol === "https:" ? 443 : 80));
  if (host === own.hostname && port === ownPort) return () => true;
  return (address) => isAllowedAddress(address) && !isThisMachines(address);
}

/**
 * Includes the machine's addresses on a network. A connection from this machine bypasses its firewall, so a database that listens on such
 * an address could be reached.
 */
function isThisMachines(address: string): boolean {
  const wanted = plain(address);
  if (["loopback", "unspecified"].includes(wanted.range())) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((each) => plain(each.address).toString() === wanted.toString());
}

const plain = (address: string) => ipaddr.process(address.replace(/%.*$/s, ""));

const FULL = new Error("the maximum number of outbound connections is open");

function refusalOf(error: unknown): { status: number; text: string } {
  if (error === FULL) return { status: 503, text: `At most ${CONNECTIONS_MAX} connections can be open at the same time.\n` };
  const reason = error instanceof TypeError ? error.message : failureOf(error).result.reason;
  return { status: 403, text: `Jobs cannot reach this address: ${reason}.\n` };
}
