import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { Duplex } from "node:stream";
import ipaddr from "ipaddr.js";
import { env } from "../../env.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";
import { limitEarlyAnswers, passBody } from "../../http/pass-body.ts";
import { failureOf } from "../../outbound/failure-of.ts";
import { type AllowAddress, isAllowedAddress } from "../../outbound/is-allowed-address.ts";
import { openTunnel } from "../../outbound/open-tunnel.ts";

const CONNECTIONS_MAX = 64;
/** How long nothing is taken from a job that sent requests together through one connection. */
const PIPELINED_PAUSE_MS = 1_000;
export const IDLE_MS = 5 * 60_000;

/** The port of a sandbox's loopback at which programs find the way out, and the variables that tell them. */
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

export type WayOut = {
  /** Serves a connection that came another way than by the socket. Whoever gives it closes it when it is idle. */
  take(connection: Duplex): void;
  close(): void;
};

/**
 * The only way out of a sandbox without a network: an HTTP proxy (CONNECT for whatever is encrypted). It reaches what this service's
 * own requests may reach (S117, S118) and this service itself, and never what else listens on this machine, whatever the operator
 * allows to webhooks (S132).
 * @param socketPath where in the file system it listens; without, it serves what it is given to `take`
 */
export async function openWayOut(socketPath?: string): Promise<WayOut> {
  const sockets = new Set<Duplex>();
  const taken = new Set<Duplex>();
  const keep = <Socket extends Duplex>(socket: Socket): Socket => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };
  const server = createServer((incoming, answer) => void passOn(incoming, answer, keep));
  server.maxConnections = CONNECTIONS_MAX;
  // Node hands on at once all requests that come together through one connection, and each would open a connection outside.
  server.maxRequestsPerSocket = 1;
  // No client of ours sends a second one. Reading and refusing them by the thousand would keep the worker from other jobs (S137).
  let refusesUntil = 0;
  server.on("dropRequest", (_, socket) => {
    refusesUntil = performance.now() + PIPELINED_PAUSE_MS;
    socket.destroy();
  });
  server.on("connection", (socket: Duplex) => {
    if (performance.now() < refusesUntil) return void socket.destroy();
    if (keep(socket) instanceof Socket) (socket as Socket).setTimeout(IDLE_MS, () => socket.destroy());
  });
  server.on("connect", (incoming: IncomingMessage, inside: Duplex, head: Buffer) => void tunnel(incoming, inside, head, keep));
  if (socketPath !== undefined) {
    await new Promise<void>((listening, failed) => {
      server.once("error", failed);
      server.listen({ path: socketPath, writableAll: true, readableAll: true }, listening);
    });
  }
  return {
    take(connection) {
      // What `maxConnections` does only to what comes by the socket.
      if (taken.size >= CONNECTIONS_MAX) return void connection.destroy();
      taken.add(connection);
      connection.once("close", () => taken.delete(connection));
      server.emit("connection", connection);
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Keep = <Socket extends Duplex>(socket: Socket) => Socket;

async function tunnel(incoming: IncomingMessage, inside: Duplex, head: Buffer, keep: Keep): Promise<void> {
  try {
    const target = targetOf(`http://${incoming.url}`);
    const outside = keep(await openTunnel(target, allowedFrom(target)));
    if (inside.destroyed) return void outside.destroy();
    inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) outside.write(head);
    outside.once("close", () => inside.destroy());
    inside.once("close", () => outside.destroy());
    outside.pipe(inside).pipe(outside);
  } catch (error) {
    const text = `${reasonOf(error)}\n`;
    inside.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }
}

async function passOn(incoming: IncomingMessage, answer: ServerResponse, keep: Keep): Promise<void> {
  try {
    const url = new URL(incoming.url ?? "");
    if (url.protocol !== "http:") throw new TypeError("only http:// addresses go without CONNECT");
    const target = targetOf(url.href);
    const socket = keep(await openTunnel(target, allowedFrom(target)));
    const framing = incoming.headers["transfer-encoding"] !== undefined && { "transfer-encoding": "chunked" };
    const outgoing = httpRequest(
      {
        createConnection: () => socket,
        method: incoming.method,
        path: `${url.pathname}${url.search}`,
        // Others that are about one connection Node refuses only where the body ends (`Trailer`): thrown there, it would end the worker.
        headers: { ...endToEnd(incoming.headers), ...framing, connection: "close" },
      },
      (answered) => {
        answered.on("error", () => answer.destroy());
        try {
          answer.writeHead(answered.statusCode ?? 502, endToEnd(answered.headers));
        } catch {
          // A header or a status that Node reads and would not write: thrown here, it would end the worker.
          answer.destroy();
          return;
        }
        void passBody(answered, answer);
      },
    );
    limitEarlyAnswers(outgoing).on("error", () => answer.destroy());
    // Whoever asked may leave at any time: nothing stays open outside for a command that is not there any more.
    answer.once("close", () => outgoing.destroy());
    if (answer.destroyed) outgoing.destroy();
    void passBody(incoming, outgoing);
  } catch (error) {
    answer.writeHead(403, { "content-type": "text/plain" }).end(`${reasonOf(error)}\n`);
  }
}

function targetOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname, port: Number(port || 80) };
}

/** Loopback and the machine's own network are what a sandbox keeps a job from; this service is there for everybody. */
function allowedFrom({ host, port }: { host: string; port: number }): AllowAddress {
  const own = new URL(env().ORIGIN);
  const ownPort = Number(own.port || (own.protocol === "https:" ? 443 : 80));
  if (host === own.hostname && port === ownPort) return () => true;
  return (address) => isAllowedAddress(address) && !isThisMachines(address);
}

/** Also by its addresses in a network: what listens there for others, such as a database, is behind no firewall from here. */
function isThisMachines(address: string): boolean {
  const wanted = plain(address);
  if (["loopback", "unspecified"].includes(wanted.range())) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((each) => plain(each.address).toString() === wanted.toString());
}

const plain = (address: string) => ipaddr.process(address.replace(/%.*$/s, ""));

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return `This address cannot be reached from a job: ${error.message}.`;
  return `This address cannot be reached from a job: ${failureOf(error).result.reason}.`;
}
