import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { env } from "#core/env.ts";
import { type Failure, log, requestContext } from "#core/log.ts";
import type { Door } from "./dispatch.ts";
import type { TypedField } from "./failure-page.ts";
import { sendFailure } from "./send.ts";

const missing: Failure = { status: 404, error: "not_found", description: "Page not found" };
const fault: Failure = { status: 500, error: "server_error", description: "Something went wrong" };
const unreadable: Failure = { status: 400, error: "unreadable_form", description: "The form could not be read" };
const stale: Failure = {
  status: 409,
  error: "stale_form",
  description: "The form is out of date: the service was updated after it was opened",
};

const ACTION_NOT_FOUND = "x-nextjs-action-not-found";

const BODY_HEADERS = ["Content-Encoding", "Content-Length", "ETag", "Link", "Transfer-Encoding", ACTION_NOT_FOUND];

/**
 * Without scripts, Next's error pages are blank. Responses to Next's own scripts are not replaced, because the open page renders
 * them.
 * @param next renders the not-found page
 */
export function replaceFailedPage(next: Door, req: IncomingMessage, res: ServerResponse): void {
  if (env().NODE_ENV === "development" || req.headers.rsc !== undefined || req.headers["next-action"] !== undefined) return;
  const context = requestContext.getStore();
  const readForm = keepForm(req);
  const { write, writeHead, end, flushHeaders } = res;
  let isReplaced = false;

  async function replace(failure: Failure): Promise<void> {
    const typed = failure === stale ? await readForm() : [];
    const page = failure === missing ? await renderNotFound(next, req) : undefined;
    if (res.destroyed) return;
    for (const name of BODY_HEADERS) res.removeHeader(name);
    // Functions that wrapped these methods later would alter the replacement page.
    const original = { write: res.write, writeHead: res.writeHead, end: res.end, flushHeaders: res.flushHeaders };
    Object.assign(res, { write, writeHead, end, flushHeaders });
    requestContext.run(context ?? { requestId: "" }, () =>
      page ? sendPage(req, res, page) : sendFailure(req, res, failure, typed),
    );
    Object.assign(res, original);
  }

  const isPassedOn = () => {
    if (!isReplaced && !res.headersSent) res.writeHead(res.statusCode);
    return !isReplaced;
  };

  res.writeHead = ((status: number, ...rest: unknown[]) => {
    if (isReplaced) return res;
    const failure = failureBehind(req, res, status, context?.failure);
    if (!failure) return Reflect.apply(writeHead, res, [status, ...rest]);
    isReplaced = true;
    void replace(failure);
    return res;
  }) as typeof res.writeHead;
  res.flushHeaders = () => {
    if (isPassedOn()) flushHeaders.call(res);
  };
  res.write = ((...args: unknown[]) => (isPassedOn() ? Reflect.apply(write, res, args) : skip(args, true))) as typeof res.write;
  res.end = ((...args: unknown[]) => (isPassedOn() ? Reflect.apply(end, res, args) : skip(args, res))) as typeof res.end;
}

function failureBehind(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  told: Failure | undefined,
): Failure | undefined {
  if (res.hasHeader(ACTION_NOT_FOUND)) return status === 409 ? stale : unreadable;
  // JSON errors of next-auth are for programs.
  const isData = /^application\/json\b/i.test(String(res.getHeader("Content-Type") ?? ""));
  if (status === 500 && !isData) return told ?? fault;
  const isPage = /^text\/html\b/i.test(String(res.getHeader("Content-Type") ?? ""));
  return status === 404 && isPage && req.method !== "HEAD" ? missing : undefined;
}

function sendPage(req: IncomingMessage, res: ServerResponse, { headers, body }: RenderedPage): void {
  const isGzipAccepted = /\bgzip\b/.test(String(req.headers["accept-encoding"]));
  const sent = isGzipAccepted ? gzipSync(body) : body;
  for (const name of ["Link", "Vary"])
    if (headers[name.toLowerCase()]) res.setHeader(name, headers[name.toLowerCase()] as string);
  if (isGzipAccepted) res.setHeader("Content-Encoding", "gzip");
  res.setHeader("Content-Length", sent.length);
  res.writeHead(404, { "Content-Type": "text/html; charset=utf-8" });
  res.end(sent);
}

function skip<Result>(args: unknown[], result: Result): Result {
  const done = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
  if (done) process.nextTick(done);
  return result;
}

type Render = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

type RenderedPage = { headers: OutgoingHttpHeaders; body: Buffer };

/** Next renders app/global-not-found.tsx only at this route. */
const NOT_FOUND = "/_not-found";

const LEFT_OUT = /^(content-(length|type|encoding)|transfer-encoding|expect|accept-encoding|if-.*|range|upgrade)$/;

async function renderNotFound(render: Render, asked: IncomingMessage): Promise<RenderedPage | undefined> {
  const req = new IncomingMessage(asked.socket);
  const kept = Object.entries(asked.headers).filter(([name]) => !LEFT_OUT.test(name));
  Object.assign(req, { method: "GET", url: NOT_FOUND, headers: Object.fromEntries(kept), httpVersion: asked.httpVersion });
  req.push(null);
  const res = new CollectedResponse(req);
  try {
    await render(req, res);
    if (res.statusCode === 404 && res.isWhole) return { headers: res.getHeaders(), body: Buffer.concat(res.pieces) };
    log().error({ status: res.statusCode }, "the not-found page could not be rendered");
  } catch (error) {
    log().error({ err: error }, "the not-found page could not be rendered");
  }
  return undefined;
}

class CollectedResponse extends ServerResponse {
  readonly pieces: Buffer[] = [];
  isWhole = false;

  override writeHead(status: number, ...rest: unknown[]): this {
    this.statusCode = status;
    const headers = rest.at(-1);
    if (headers && typeof headers === "object" && !Array.isArray(headers)) {
      for (const [name, value] of Object.entries(headers as OutgoingHttpHeaders))
        if (value !== undefined) this.setHeader(name, value);
    }
    return this;
  }

  override flushHeaders(): void {}

  override write(...args: unknown[]): boolean {
    this.#keep(args);
    return true;
  }

  override end(...args: unknown[]): this {
    this.#keep(args);
    this.isWhole = true;
    process.nextTick(() => this.emit("finish"));
    return this;
  }

  #keep(args: unknown[]): void {
    const [piece, encoding] = args;
    if (typeof piece === "string")
      this.pieces.push(Buffer.from(piece, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"));
    else if (piece instanceof Uint8Array) this.pieces.push(Buffer.from(piece));
    const done = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
    if (done) process.nextTick(done);
  }
}

const MAX_BYTES = 64 * 1024;
const MAX_CHARACTERS = 5_000;

/** React's own fields, hidden fields and secrets must not be shown again. */
const NOT_TYPED = /^\$ACTION|password|secret|token|jwks|id$|^(next|page|returnTo|account|app|host|isOn)$/i;

/**
 * Call the result when the request is complete.
 * @returns a function that returns the texts that a user filled in, or none if the form is larger than 64 KiB
 */
export function keepForm(req: IncomingMessage): () => Promise<TypedField[]> {
  const contentType = req.headers["content-type"] ?? "";
  if (req.method !== "POST" || !/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(contentType)) {
    return async () => [];
  }
  let chunks: Uint8Array[] | undefined = [];
  let received = 0;
  const { push } = req;
  req.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array && chunks) {
      received += chunk.length;
      if (received > MAX_BYTES) chunks = undefined;
      else chunks.push(chunk);
    }
    return push.call(req, chunk, encoding);
  };
  return () => readForm(chunks ?? [], contentType);
}

async function readForm(chunks: Uint8Array[], contentType: string): Promise<TypedField[]> {
  try {
    const form = await new Response(Buffer.concat(chunks), { headers: { "content-type": contentType } }).formData();
    return [...form].flatMap(([name, value]) =>
      typeof value === "string" && value.trim() !== "" && !NOT_TYPED.test(name)
        ? [{ name, value: value.slice(0, MAX_CHARACTERS) }]
        : [],
    );
  } catch {
    return [];
  }
}
