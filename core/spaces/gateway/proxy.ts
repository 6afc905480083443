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
import { limitResponse, passBody } from "../../http/pass-body.ts";

export type Upstream = { connect: Connect } | { host: string; port: number };
export type Connect = () => Promise<Duplex>;

export type Passing = {
  upstream: Upstream;
  agent?: Agent;
  path: string;
  headers: OutgoingHttpHeaders;
  answer: (status: number, headers: IncomingHttpHeaders) => OutgoingHttpHeaders | undefined;
  /** Sends the body only after the app has accepted the request, so that a refused request can be sent again. */
  isBodyHeldBack?: boolean;
};

/** Limits only the pauses, not the total duration (S138). */
const ANSWER_IDLE_MS = 60_000;
const STREAM_IDLE_MS = 10 * 60_000;
const LEAVING_MS = 2_000;

export type Passed =
  | "answered"
  /** Nothing was sent, and a held-back body was not read. */
  | "declined"
  | "refused"
  | "broken"
  | "timed_out";

/** Never throws. If nothing was sent to the client, the caller must respond. */
export function passOn(req: IncomingMessage, res: ServerResponse, passing: Passing): Promise<Passed> {
  const { promise, resolve } = Promise.withResolvers<Passed>();
  const isChunked = req.headers["transfer-encoding"] !== undefined;
  const hasBody = isChunked || Number(req.headers["content-length"] ?? 0) > 0;
  const isHeldBack = hasBody && passing.isBodyHeldBack === true;
  const out = open(req, passing, {
    ...(isChunked && { "transfer-encoding": "chunked" }),
    ...(isHeldBack && { expect: "100-continue" }),
  });
  if (!out) return Promise.resolve("broken");
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
    const status = answer.statusCode ?? 0;
    // Node takes a 101 without `Upgrade` for a response. A reverse proxy that received it from this service would open a tunnel, and no
    // longer check what passes (S110).
    if (status < 200) {
      out.destroy();
      return end("broken");
    }
    const headers = passing.answer(status, answer.headers);
    if (!headers) {
      answer.resume();
      out.destroy();
      return end("declined");
    }
    out.setTimeout(STREAM_IDLE_MS);
    try {
      res.writeHead(status, headers);
    } catch {
      // Node reads some headers and statuses that it refuses to write.
      out.destroy();
      return end("broken");
    }
    res.flushHeaders();
    res.once("finish", () => {
      // The app answered before the request was complete. Node would keep the connection for the rest of the request, beyond the
      // limits of connections (S137).
      if (!out.writableFinished) out.destroy();
      end("answered");
    });
    // A body shorter than announced must not look complete.
    void passBody(answer, res);
  });
  // If the app upgrades without having been asked, Node emits neither a response nor an end.
  out.once("upgrade", (_, socket) => {
    socket.destroy();
    end("broken");
  });
  if (isHeldBack) out.once("continue", () => req.pipe(out));
  else if (hasBody) req.pipe(out);
  else out.end();
  return promise;
}

export function passOnUpgrade(
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
    // A client that closes its end has left (RFC 6455 §7.1.4). An app that does not notice must not keep the slot (S137).
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
    // Node calls `createConnection` only for a request without an agent.
    const to =
      "connect" in upstream ? { createConnection: connectingBy(upstream.connect) } : { ...upstream, agent: agent ?? false };
    return limitResponse(request({ ...to, method: req.method, path, headers: { ...headers, ...more } }));
  } catch {
    return undefined;
  }
}

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
