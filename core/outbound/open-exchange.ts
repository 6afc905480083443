import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Client } from "undici";
import { log } from "../log.ts";
import type { Deadline } from "./deadline.ts";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";
import { type Connection, dropConnections, keepConnection, takeConnection } from "./kept-connections.ts";
import { openConnection, openTls } from "./open-connection.ts";
import { parseTarget, type Target } from "./parse-target.ts";
import { OutboundFailure, type OutboundRequest, type OutboundTimings, requestHeaders } from "./request.ts";
import type { ResolveHost } from "./resolve-host.ts";

const MAX_HEADER_BYTES = 32 * 1024;
/** A kept connection is closed before this time, because most servers close idle connections after five seconds. */
const IDLE_MS = 4_000;
const IDLE_MAX_MS = 15_000;
/** Without a limit, a host could send interim responses until the deadline (S132, S137). */
const INTERIM_MAX = 16;
/** A response may have this much besides twice its body, because the parser skips empty lines and chunk extensions (S137). */
const CARRIED_OWN_BYTES_MAX = 128 * 1024;
/** Each piece of a response has a cost of its own, however small it is. This many tiny pieces cost a few milliseconds (S137). */
const PIECES_MAX = 4_096;
const PIECE_MEAN_MIN_BYTES = 64;
const CLOSED = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

export type ExchangeRequest = Pick<
  OutboundRequest,
  "url" | "method" | "headers" | "body" | "ports" | "isHttpsRequired" | "isConnectionKept"
> &
  Partial<Pick<OutboundRequest, "maxBodyBytes">>;

export type Exchange = {
  status: number;
  headers: Record<string, string>;
  body: Readable;
  isReused: boolean;
  timings: Omit<OutboundTimings, "totalMs">;
  /** Ends the connection, unless `keep` was called. */
  close(): void;
  /** Call this when the response was read to its end. */
  keep(): void;
};

/** After an error, nothing is left open. `failureOf` translates the errors. */
export async function openExchange(
  request: ExchangeRequest,
  deadline: Deadline,
  resolve: ResolveHost,
  allows: AllowAddress = isAllowedAddress,
): Promise<Exchange> {
  const { signal } = deadline;
  const { method = "GET", body, isConnectionKept = false, maxBodyBytes = Number.POSITIVE_INFINITY } = request;
  let connection: Partial<Connection> = {};
  let isEnded = false;
  const end = () => {
    isEnded = true;
    clearInterval(watch);
  };
  const close = () => {
    if (isEnded) return;
    end();
    // An assertion in undici fails if a socket closes under it without an error.
    connection.client?.destroy().catch(() => undefined);
    connection.socket?.destroy();
  };
  let reused: Connection | undefined;
  let bytesBefore = 0;
  let watch: NodeJS.Timeout | undefined;
  let origin = "";
  let interim = 0;
  try {
    const target = parseTarget(request);
    origin = target.origin;
    const headers = requestHeaders(request.headers);

    deadline.enter("no name server responded in time");
    const addresses = await vettedAddresses(target, resolve, signal, allows);
    const dnsMs = deadline.enter("the connection timed out");
    reused = isConnectionKept ? takeConnection(target.origin, addresses, allows) : undefined;
    let timings: Pick<OutboundTimings, "dnsMs" | "connectMs" | "tlsMs"> = { dnsMs: null, connectMs: null, tlsMs: null };
    if (reused) {
      connection = reused;
      deadline.enter("no response arrived in time");
    } else {
      connection.socket = await openConnection(target, addresses, signal, allows);
      const connectMs = deadline.enter("the secure connection was not established in time");
      if (target.isTls) connection.socket = await openTls(connection.socket, target, signal);
      const tlsMs = deadline.enter("no response arrived in time");
      connection.client = clientOver(connection.socket, target);
      timings = { dnsMs, connectMs, tlsMs: target.isTls ? tlsMs : null };
    }
    const { client, socket } = connection as Connection;

    deadline.endConnecting();
    bytesBefore = socket.bytesRead;
    watch = setInterval(() => {
      if (socket.bytesRead - bytesBefore > CARRIED_OWN_BYTES_MAX + 2 * maxBodyBytes)
        deadline.end(OutboundFailure.unreachable("the host sends far more than its response"));
    }, 50).unref();
    const answer = await client.request({
      reset: !isConnectionKept,
      responseHeaders: "raw",
      method,
      path: target.path,
      headers,
      body,
      signal,
      onInfo: () => {
        interim += 1;
        if (interim > INTERIM_MAX) deadline.end(OutboundFailure.unreachable("the host sends too many interim responses"));
      },
    });
    const firstByteMs = deadline.enter("the response did not end in time");
    return {
      status: answer.statusCode,
      headers: headersOf(answer.headers as unknown as string[]),
      body: answer.body,
      isReused: reused !== undefined,
      timings: { ...timings, firstByteMs },
      close,
      keep: () => {
        end();
        keepConnection(target.origin, { client, socket });
      },
    };
  } catch (error) {
    const isSilent = reused?.socket.bytesRead === bytesBefore;
    close();
    if (!reused || !isSilent || signal.aborted || !CLOSED.has(Object(error).code)) throw error;
    dropConnections(origin);
    throw OutboundFailure.stale();
  }
}

/** @param level must be `debug` if a program can repeat requests, because `info` would fill the disk */
export async function vettedAddresses(
  { host }: Target,
  resolve: ResolveHost,
  signal: AbortSignal,
  allows: AllowAddress,
  level: "info" | "debug" = "info",
): Promise<string[]> {
  const addresses = await resolve(host, signal);
  const refused = addresses.find((address) => !allows(address));
  if (refused === undefined) return addresses;
  // Only the operator may learn the address.
  log()[level]({ host, address: refused }, "outbound request refused: OUTBOUND_ALLOW_CIDRS does not contain this address");
  throw OutboundFailure.blocked("the host is not on the public internet");
}

function clientOver(socket: Socket, { origin }: Target): Client {
  let vetted: Socket | undefined = socket;
  return new Client(origin, {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0, // the deadline bounds both
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    connect: (_options, done) => {
      const given = vetted;
      vetted = undefined;
      const used = Object.assign(new Error("The connection has been used."), { code: "ECONNRESET" });
      process.nextTick(() => (given ? done(null, given) : done(used, null)));
    },
  });
}

/**
 * In a Map, no name collides with an inherited property.
 * @param raw names and values in turn
 */
function headersOf(raw: string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase();
    const before = headers.get(name);
    headers.set(name, before === undefined ? String(raw[index + 1]) : `${before}, ${raw[index + 1]}`);
  }
  return Object.fromEntries(headers);
}

const decoders = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** The limit counts decompressed bytes (S74, S120). */
export async function readBody(
  incoming: Readable,
  headers: Record<string, string>,
  { maxBodyBytes, onExcess }: OutboundRequest,
): Promise<{ body: Uint8Array; isCut: boolean }> {
  limitPieces(incoming);
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const piece of decoded(incoming, headers)) {
    length += piece.length;
    if (length > maxBodyBytes && onExcess === "fail")
      throw OutboundFailure.unreachable(`the response is longer than ${maxBodyBytes.toLocaleString("en")} bytes`);
    kept.push(piece);
    if (length > maxBodyBytes) break;
  }
  return { body: Buffer.concat(kept).subarray(0, maxBodyBytes), isCut: length > maxBodyBytes };
}

/** Ends a response of very many tiny pieces. They are counted where they arrive, because a reader gets several of them joined. */
function limitPieces(incoming: Readable): void {
  const { push } = incoming;
  let [pieces, bytes] = [0, 0];
  incoming.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    pieces += 1;
    bytes += piece?.length ?? 0;
    if (pieces > PIECES_MAX && bytes < pieces * PIECE_MEAN_MIN_BYTES)
      incoming.destroy(OutboundFailure.unreachable("the host sends its response in too many pieces"));
    return push.call(incoming, piece, encoding);
  };
}

export function decoded(incoming: Readable, headers: Record<string, string>): Readable {
  const decoder = decoders.get(headers["content-encoding"]?.trim().toLowerCase() ?? "")?.();
  if (!decoder) return incoming;
  incoming.on("error", (error) => decoder.destroy(error)).pipe(decoder);
  return decoder;
}
