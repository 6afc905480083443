import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { forbidPageScripts } from "./protect-response.ts";

/**
 * These pages have no scripts, because an injected script could press their buttons.
 * @param pathname is decoded, because Next also takes `/%61ctivate` for `/activate`
 */
export const isScriptless = (pathname: string): boolean => /^\/(interaction\/|activate(\/|$))/.test(decodeURIComponent(pathname));

/** React escapes `<` and `>` except in its own markup. */
const SCRIPTS = /<script\b[\s\S]*?(?:<\/script>|$)|<link\b(?=[^<>]*\bas="script")[^<>]*>/g;

const ROUTER_HEADER = /^(rsc|next-(router-.*|url|action))$/;

export function removeScripts(req: IncomingMessage, res: ServerResponse): void {
  // Next's router on another page would render this page beside the scripts of that page.
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
  // Next's compression writes the head first, but the length is not known yet.
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
