import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { forbidPageScripts } from "./protect-response.ts";

/**
 * Pages on which a user grants something run no scripts at all: an injected script could press their buttons. They are forms and need none;
 * Next nevertheless writes 130 kB of scripts into every page.
 *
 * @param pathname as in the request. Next finds a page by its decoded path too, so `/%61ctivate` is `/activate`.
 */
export const isScriptless = (pathname: string): boolean => /^\/(interaction\/|activate(\/|$))/.test(decodeURIComponent(pathname));

/** React escapes `<` and `>` except in its own markup, so what looks like a script in its output is one. */
const SCRIPTS = /<script\b[\s\S]*?(?:<\/script>|$)|<link\b(?=[^<>]*\bas="script")[^<>]*>/g;

/** Headers with which Next's router requests data instead of a page. */
const ROUTER_HEADER = /^(rsc|next-(router-.*|url|action))$/;

/** Removes the scripts from the page in this response, and has the browser block any that remain. */
export function removeScripts(req: IncomingMessage, res: ServerResponse): void {
  // Next's router on another page would render this page there, beside its own scripts. If it gets a document, it loads that instead.
  for (const name of Object.keys(req.headers)) if (ROUTER_HEADER.test(name)) delete req.headers[name];
  const isGzipAccepted = /\bgzip\b/.test(String(req.headers["accept-encoding"]));
  delete req.headers["accept-encoding"];
  forbidPageScripts(res);

  const { write, writeHead, end, flushHeaders } = res;
  let head: unknown[] | undefined;
  const chunks: Buffer[] = [];
  const collect = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === "string")
      chunks.push(Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const callbackOf = (args: unknown[]) => args.find((arg) => typeof arg === "function") as (() => void) | undefined;

  res.flushHeaders = () => undefined;
  // Next's compression writes the head before the first piece; here the head waits for the correct length and encoding.
  res.writeHead = ((...args: unknown[]) => {
    head = args;
    return res;
  }) as typeof res.writeHead;
  res.write = ((chunk: unknown, ...rest: unknown[]) => {
    collect(chunk, rest[0]);
    callbackOf(rest)?.();
    return true;
  }) as typeof res.write;

  res.end = ((...args: unknown[]) => {
    collect(args[0], args[1]);
    Object.assign(res, { write, writeHead, end, flushHeaders });
    const body = Buffer.concat(chunks);
    const isPage = /^text\/html\b/i.test(String(res.getHeader("Content-Type") ?? ""));
    const sent = isPage ? withoutScripts(res, body, isGzipAccepted) : body;
    if (head) Reflect.apply(res.writeHead, res, head);
    return res.end(sent, callbackOf(args));
  }) as typeof res.end;
}

function withoutScripts(res: ServerResponse, page: Buffer, isGzipAccepted: boolean): Buffer {
  const html = Buffer.from(page.toString().replace(SCRIPTS, ""));
  const body = isGzipAccepted ? gzipSync(html) : html;
  if (isGzipAccepted) res.setHeader("Content-Encoding", "gzip");
  res.setHeader("Content-Length", body.length);
  return body;
}
