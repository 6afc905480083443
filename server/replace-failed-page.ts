import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { env } from "#core/env.ts";
import { type Failure, requestContext } from "#core/log.ts";
import type { Door } from "./dispatch.ts";
import { keepForm } from "./keep-form.ts";
import { type RenderedPage, renderNotFound } from "./render-not-found.ts";
import { sendFailure } from "./send.ts";

const missing: Failure = { status: 404, error: "not_found", description: "There is nothing here" };
const fault: Failure = { status: 500, error: "server_error", description: "Something went wrong" };
const unreadable: Failure = { status: 400, error: "unreadable_form", description: "The form could not be read" };
const stale: Failure = { status: 409, error: "stale_form", description: "The form is from before an update of the service" };

/** In Next's response to a form or a call whose action this build does not have. */
const ACTION_NOT_FOUND = "x-nextjs-action-not-found";

/** Headers that describe a body of Next's. */
const BODY_HEADERS = ["Content-Encoding", "Content-Length", "ETag", "Link", "Transfer-Encoding", ACTION_NOT_FOUND];

/**
 * Replaces Next's response if a page failed or does not exist. Next leaves it to scripts to render one (app/error.tsx, app/not-found.tsx),
 * so that without them the page is blank; and a form left open during an update gets a line of plain text. Requests of Next's own scripts
 * are left alone: they read the response, and the open page renders it.
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
    // Later wrappers of these functions would alter the replacement page; they find nothing left to do.
    const theirs = { write: res.write, writeHead: res.writeHead, end: res.end, flushHeaders: res.flushHeaders };
    Object.assign(res, { write, writeHead, end, flushHeaders });
    requestContext.run(context ?? { requestId: "" }, () =>
      page ? sendPage(req, res, page) : sendFailure(req, res, failure, typed),
    );
    Object.assign(res, theirs);
  }

  /** Whether the original response is sent; checked before each part of it. */
  const isTheirs = () => {
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
    if (isTheirs()) flushHeaders.call(res);
  };
  res.write = ((...args: unknown[]) => (isTheirs() ? Reflect.apply(write, res, args) : skip(args, true))) as typeof res.write;
  res.end = ((...args: unknown[]) => (isTheirs() ? Reflect.apply(end, res, args) : skip(args, res))) as typeof res.end;
}

function failureBehind(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  told: Failure | undefined,
): Failure | undefined {
  if (res.hasHeader(ACTION_NOT_FOUND)) return status === 409 ? stale : unreadable;
  // next-auth also answers programs.
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

/** Pretends that a part of a discarded response was sent. */
function skip<Result>(args: unknown[], result: Result): Result {
  const done = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
  if (done) process.nextTick(done);
  return result;
}
