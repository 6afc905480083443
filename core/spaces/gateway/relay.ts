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
import { limitEarlyAnswers, passBody } from "../../http/pass-body.ts";

/** Where a request is passed on to. */
export type Upstream = { connect: Connect } | { host: string; port: number };
/** Opens a connection. It fails with the code ECONNREFUSED where nobody is there. */
export type Connect = () => Promise<Duplex>;

export type Passing = {
  upstream: Upstream;
  agent?: Agent;
  path: string;
  headers: OutgoingHttpHeaders;
  /** What may be said of the answer; undefined where it is not to be passed back at all. */
  answer: (status: number, headers: IncomingHttpHeaders) => OutgoingHttpHeaders | undefined;
  /** Whether the body waits until the other side says that it takes it, so that a refusal leaves the request whole. */
  isBodyHeldBack?: boolean;
};

/** How long nothing may move: before the answer begins, and within it. There is no limit to the whole (S138). */
export const ANSWER_IDLE_MS = 60_000;
export const STREAM_IDLE_MS = 10 * 60_000;

/** What came of passing a request on. */
export type Passed =
  /** It was answered, or whoever asked has left. */
  | "answered"
  /** `answer` did not want what came; nothing was sent, and of the body nothing was taken where it was held back. */
  | "declined"
  /** Nobody is there. */
  | "refused"
  /** Somebody was, and broke off. */
  | "broken"
  | "timed_out";

/** Passes a request on and its answer back, piece by piece. Never throws; where nothing was sent yet the caller answers. */
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
  // Whoever asked may leave at any time.
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
    end(isTimedOut ? "timed_out" : isNobody(error) ? "refused" : "broken");
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
      // A header or a status that Node reads and would not write.
      out.destroy();
      return end("broken");
    }
    res.flushHeaders();
    res.once("finish", () => end("answered"));
    // Fewer bytes than were announced do not pass for all of them: it breaks off.
    void passBody(answer, res);
  });
  // Nobody asked for another protocol. Node tells of no answer then, and of no end.
  out.once("upgrade", (_, socket) => {
    socket.destroy();
    end("broken");
  });
  if (isHeldBack) out.once("continue", () => req.pipe(out));
  else if (hasBody) req.pipe(out);
  else out.end();
  return promise;
}

/** Passes a WebSocket on. What comes of it before it is one, is answered by `refuse`; `onPiece` hears of whatever is said over it. */
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
  const give = (passed: Exclude<Passed, "answered">) => {
    out?.destroy();
    refuse(passed);
    resolve();
  };
  if (!out) {
    give("broken");
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
    give(isTimedOut ? "timed_out" : isNobody(error) ? "refused" : "broken");
  });
  let isUpgraded = false;
  out.once("response", (answer) => {
    answer.resume();
    give("declined");
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
    // Node asks `createConnection` only where there is no agent.
    const to =
      "connect" in upstream ? { createConnection: connectingBy(upstream.connect) } : { ...upstream, agent: agent ?? false };
    return limitEarlyAnswers(request({ ...to, method: req.method, path, headers: { ...headers, ...more } }));
  } catch {
    return undefined;
  }
}

/** As Node takes it: nothing is returned, and the socket is handed over once it is there. */
function connectingBy(connect: Connect): NonNullable<RequestOptions["createConnection"]> {
  return (_, done) => {
    connect().then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
}

const isNobody = ({ code }: NodeJS.ErrnoException): boolean =>
  code === "ECONNREFUSED" || code === "ENOENT" || code === "EHOSTUNREACH" || code === "ENETUNREACH";
