import {
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { limitInterimResponses, passBody } from "../../http/pass-body.ts";

/** The destination of a relayed request. */
export type Upstream = { connect: Connect } | { host: string; port: number };
/** Opens a connection. Fails with the code ECONNREFUSED if nothing listens. */
export type Connect = () => Promise<Duplex>;

export type Passing = {
  upstream: Upstream;
  agent?: Agent;
  path: string;
  headers: OutgoingHttpHeaders;
  /** The response's headers to send back; undefined if the response must not be passed back at all. */
  answer: (status: number, headers: IncomingHttpHeaders) => OutgoingHttpHeaders | undefined;
  /** Whether the body waits until the other side accepts it, so that after a refusal the request is still whole. */
  isBodyHeldBack?: boolean;
};

/** How long a relay may be idle: before the response begins, and within it. The total duration is not limited (S138). */
const ANSWER_IDLE_MS = 60_000;
const STREAM_IDLE_MS = 10 * 60_000;
/** How long an app may take to close a WebSocket whose client has left. */
const LEAVING_MS = 2_000;

/** The result of relaying a request. */
export type Passed =
  /** The request was answered, or the client has left. */
  | "answered"
  /** `answer` declined the response; nothing was sent, and no body was read if it was held back. */
  | "declined"
  /** Nothing listens at the destination. */
  | "refused"
  /** The app closed the connection early. */
  | "broken"
  | "timed_out";

/** Relays a request and its response, piece by piece. Never throws; if nothing was sent yet, the caller responds. */
export function relay(req: IncomingMessage, res: ServerResponse, passing: Passing): Promise<Passed> {
  const { promise, resolve } = Promise.withResolvers<Passed>();
  const isChunked = req.headers["transfer-encoding"] !== undefined;
  const hasBody = isChunked || Number(req.headers["content-length"] ?? 0) > 0;
  const isHeldBack = hasBody && passing.isBodyHeldBack === true;
  const out = open(req, passing, {
    ...(isChunked && { "transfer-encoding": "chunked" }),
    ...(isHeldBack && { expect: "100-continue" }),
  });
  if (!out) return Promise.resolve("broken");
  // The client may leave at any time.
  const leave = () => {
    out.destroy();
    resolve("answered");
  };
  res.once("close", leave);
  const end = (passed: Passed) => {
    res.off("close", leave);
    req.unpipe(out);
    resolve(passed);
  };
  let isTimedOut = false;
  out.setTimeout(ANSWER_IDLE_MS, () => {
    isTimedOut = true;
    out.destroy();
  });
  out.once("error", (error: NodeJS.ErrnoException) => {
    if (res.headersSent) res.destroy();
    end(isTimedOut ? "timed_out" : isUnreachable(error) ? "refused" : "broken");
  });
  out.once("response", (answer) => {
    const headers = passing.answer(answer.statusCode ?? 0, answer.headers);
    if (!headers) {
      answer.resume();
      out.destroy();
      return end("declined");
    }
    out.setTimeout(STREAM_IDLE_MS);
    try {
      res.writeHead(answer.statusCode ?? 502, headers);
    } catch {
      // A header or a status that Node reads but refuses to write.
      out.destroy();
      return end("broken");
    }
    res.flushHeaders();
    res.once("finish", () => {
      // The app answered before it had the whole request. Node would keep the connection for the rest, which nobody will send, and
      // it would outlast the request's place in the limits of connections (S137).
      if (!out.writableFinished) out.destroy();
      end("answered");
    });
    // A body shorter than announced must not look complete: the connection is broken off.
    void passBody(answer, res);
  });
  // The app upgrades without a request to do so. Node then emits neither a response nor an end.
  out.once("upgrade", (_, socket) => {
    socket.destroy();
    end("broken");
  });
  if (isHeldBack) out.once("continue", () => req.pipe(out));
  else if (hasBody) req.pipe(out);
  else out.end();
  return promise;
}

/** Relays a WebSocket. `refuse` answers failures before the upgrade; `onPiece` is called for every piece sent over it. */
export function relayUpgrade(
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  {
    refuse,
    onPiece = () => undefined,
    ...passing
  }: Passing & { refuse: (passed: Exclude<Passed, "answered">) => void; onPiece?: () => void },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const out = open(req, passing, { connection: "Upgrade", upgrade: "websocket" });
  const fail = (passed: Exclude<Passed, "answered">) => {
    out?.destroy();
    refuse(passed);
    resolve();
  };
  if (!out) {
    fail("broken");
    return promise;
  }
  const close = () => {
    out.destroy();
    resolve();
  };
  socket.once("close", close).on("error", () => socket.destroy());
  let isTimedOut = false;
  out.setTimeout(ANSWER_IDLE_MS, () => {
    isTimedOut = true;
    out.destroy();
  });
  out.once("error", (error: NodeJS.ErrnoException) => {
    if (!socket.writable || isUpgraded) return;
    fail(isTimedOut ? "timed_out" : isUnreachable(error) ? "refused" : "broken");
  });
  let isUpgraded = false;
  out.once("response", (answer) => {
    answer.resume();
    fail("declined");
  });
  out.once("upgrade", (answer, other, rest) => {
    isUpgraded = true;
    const headers = passing.answer(101, answer.headers) ?? {};
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines.join("\r\n")}\r\n\r\n`,
    );
    if (rest.length > 0) socket.write(rest);
    if (head.length > 0) other.write(head);
    other.setTimeout(STREAM_IDLE_MS, () => other.destroy());
    other.on("error", () => socket.destroy()).once("close", () => socket.destroy());
    socket.once("close", () => other.destroy());
    // A client that closes its end has left (RFC 6455 §7.1.4). Node keeps the other half open, and an app that does not notice would keep
    // the client's slot (S137).
    socket.once("end", () => setTimeout(() => socket.destroy(), LEAVING_MS).unref());
    socket.on("data", onPiece).pipe(other).on("data", onPiece).pipe(socket);
  });
  out.end();
  return promise;
}

function open(
  req: IncomingMessage,
  { upstream, agent, path, headers }: Passing,
  more: OutgoingHttpHeaders,
): ClientRequest | undefined {
  try {
    // Node calls `createConnection` only if there is no agent.
    const to =
      "connect" in upstream ? { createConnection: connectingBy(upstream.connect) } : { ...upstream, agent: agent ?? false };
    return limitInterimResponses(request({ ...to, method: req.method, path, headers: { ...headers, ...more } }));
  } catch {
    return undefined;
  }
}

/** `connect` in the form that Node accepts, which passes the socket to a callback. */
function connectingBy(connect: Connect): NonNullable<RequestOptions["createConnection"]> {
  return (_, done) => {
    connect().then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
}

const isUnreachable = ({ code }: NodeJS.ErrnoException): boolean =>
  code === "ECONNREFUSED" || code === "ENOENT" || code === "EHOSTUNREACH" || code === "ENETUNREACH";
