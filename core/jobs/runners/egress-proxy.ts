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
import { hasLongHost } from "../../http/has-long-host.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";
import { limitResponse, limitSkipped, passBody } from "../../http/pass-body.ts";
import { type AllowAddress, isAllowedAddress } from "../../outbound/is-allowed-address.ts";
import { openTunnel } from "../../outbound/open-tunnel.ts";
import { failureOf } from "../../outbound/request.ts";
import type { Task } from "./runner.ts";

const CONNECTIONS_MAX = 64;
/** At most SERVED_MAX connections are served in SERVED_MS: each takes up to a millisecond of the event loop (S132). */
const SERVED_MAX = 20;
const SERVED_MS = 100;
/** With more refused connections, the job is cut off, because closing them takes time too, and Node cannot pause a listener. */
const DROPPED_MAX = 5_000;
const DROPPED_MS = 10_000;
/** After a job has pipelined requests, its new connections are closed for this long. */
const PIPELINED_PAUSE_MS = 1_000;
export const IDLE_MS = 5 * 60_000;
/** A gigabit a second, which the jobs of a worker share equally. The event loop could pass on about four times as much (S132). */
const BYTES_PER_MS = 125_000;
const PAUSE_MIN_MS = 5;

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
  /** The caller must close an idle connection. */
  take(connection: Duplex): void;
  /** Resolves when the sandbox has opened too many connections. After that, nothing is served. */
  cutOff: Promise<void>;
  close(): void;
};

/**
 * A job reaches what this service may reach (S117, S118), and this service, but nothing else on this machine (S132).
 * @param socketPath if absent, connections come only through `take`
 */
export async function openEgressProxy(
  { onNote }: Pick<Task, "onNote">,
  socketPath?: string,
  bytesPerMs = BYTES_PER_MS,
): Promise<EgressProxy> {
  const sockets = new Set<Duplex>();
  const taken = new Set<Duplex>();
  const waiting = new Set<Duplex>();
  let outside = 0;
  let served = 0;
  let [dropped, droppedUntil] = [0, 0];
  const cutOff = Promise.withResolvers<void>();
  // No known program pipelines requests. Refusing thousands would block the worker's other jobs (S137).
  let refusesUntil = 0;

  const keep = <Kept extends Duplex>(socket: Kept): Kept => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };

  const open: Open = async (target, inside) => {
    // Abandoned connections count too, because they may still be closing or waiting for a name server.
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

  const own: Passing = { until: 0 };
  passing.add(own);
  const pauseAfter: PauseAfter = (bytes) => {
    const now = performance.now();
    const others = [...passing].filter((each) => each !== own && each.until > now).length;
    own.until = Math.max(now, own.until) + (bytes * (1 + others)) / bytesPerMs;
    return own.until - now < PAUSE_MIN_MS ? 0 : own.until - now;
  };
  const skipped = new WeakMap<Duplex, ReturnType<typeof limitSkipped>>();
  const server = createHttpServer((incoming, answer) => {
    skipped.get(incoming.socket)?.countBody(incoming);
    void passOn(incoming, answer, open, pauseAfter);
  });
  // Node emits all pipelined requests at once, and each would open a connection outside.
  server.maxRequestsPerSocket = 1;
  server.on("dropRequest", (_, socket) => {
    refusesUntil = performance.now() + PIPELINED_PAUSE_MS;
    socket.destroy();
  });
  server.on("connect", (incoming: IncomingMessage, inside: Duplex, head: Buffer) => {
    skipped.get(inside)?.stop();
    void tunnel(incoming, inside, head, { open, pauseAfter });
  });

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
      skipped.set(
        socket,
        limitSkipped(socket, () => socket.destroy()),
      );
      socket.resume();
    }
  }

  const arrive = (socket: Duplex): void => {
    if (keep(socket) instanceof Socket) (socket as Socket).setTimeout(IDLE_MS, () => socket.destroy());
    waiting.add(socket);
    socket.once("close", () => waiting.delete(socket));
    serve();
  };

  // A connection that waits for its turn is paused. Even an abandoned connection keeps its slot until its turn.
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
    passing.delete(own);
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
      // Node enforces `maxConnections` only for the listener, not for connections from `take`.
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

type Open = (target: { host: string; port: number }, inside: Duplex | ServerResponse) => Promise<Socket>;
/** Returns the milliseconds for which the sender of these bytes must pause. */
type PauseAfter = (bytes: number) => number;

/** With the bytes that have passed, a job has used up its share until the time `until`. */
type Passing = { until: number };
const passing = new Set<Passing>();

async function tunnel(
  incoming: IncomingMessage,
  inside: Duplex,
  head: Buffer,
  { open, pauseAfter }: { open: Open; pauseAfter: PauseAfter },
): Promise<void> {
  try {
    const outside = await open(targetOf(`http://${incoming.url}`), inside);
    if (inside.destroyed) return void outside.destroy();
    inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) outside.write(head);
    outside.once("close", () => inside.destroy());
    inside.once("close", () => outside.destroy());
    pipeInTurn(outside, inside, pauseAfter);
    pipeInTurn(inside, outside, pauseAfter);
  } catch (error) {
    const { status, text } = refusalOf(error);
    const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}`;
    inside.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${text}`);
  }
}

function pipeInTurn(from: Duplex, to: Duplex, pauseAfter: PauseAfter): void {
  const resume = (): void => void (to.writableNeedDrain ? to.once("drain", resume) : from.resume());
  from.on("data", (bytes: Buffer) => {
    if (to.destroyed) return;
    const isFull = !to.write(bytes);
    const pauseMs = pauseAfter(bytes.length);
    if (!isFull && pauseMs === 0) return;
    from.pause();
    if (pauseMs > 0) setTimeout(resume, pauseMs);
    else resume();
  });
  from.once("end", () => to.end());
}

async function passOn(incoming: IncomingMessage, answer: ServerResponse, open: Open, pauseAfter: PauseAfter): Promise<void> {
  try {
    const url = parse(incoming.url ?? "");
    if (url.protocol !== "http:") throw new TypeError("URLs other than http:// require CONNECT");
    const socket = await open(targetOf(url.href), answer);
    const framing = incoming.headers["transfer-encoding"] !== undefined && { "transfer-encoding": "chunked" };
    const outgoing = httpRequest(
      {
        createConnection: () => socket,
        method: incoming.method,
        path: `${url.pathname}${url.search}`,
        // A header such as `Trailer` would make Node throw outside of this `try`, which would end the worker.
        headers: { ...endToEnd(incoming.headers), ...framing, connection: "close" },
      },
      (answered) => {
        answered.on("error", () => answer.destroy());
        try {
          answer.writeHead(answered.statusCode ?? 502, endToEnd(answered.headers));
        } catch {
          // Node reads some headers and statuses that it refuses to write, and the exception would end the worker.
          answer.destroy();
          return;
        }
        void passBody(answered, answer, pauseAfter);
      },
    );
    limitResponse(outgoing).on("error", () => answer.destroy());
    answer.once("close", () => outgoing.destroy());
    if (answer.destroyed) outgoing.destroy();
    void passBody(incoming, outgoing, pauseAfter);
  } catch (error) {
    const { status, text } = refusalOf(error);
    answer.writeHead(status, { "content-type": "text/plain" }).end(text);
  }
}

function targetOf(address: string): { host: string; port: number } {
  const { hostname, port } = parse(address);
  return { host: hostname, port: Number(port || 80) };
}

function parse(address: string): URL {
  if (hasLongHost(address)) throw new TypeError("the host name is too long");
  return new URL(address);
}

function allowedFrom({ host, port }: { host: string; port: number }): AllowAddress {
  const own = new URL(env().ORIGIN);
  const ownPort = Number(own.port || (own.protocol === "https:" ? 443 : 80));
  if (host === own.hostname && port === ownPort) return () => true;
  return (address) => isAllowedAddress(address) && !isThisMachines(address);
}

/** This machine's addresses on a network count too, because a connection from the machine itself bypasses the firewall. */
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
