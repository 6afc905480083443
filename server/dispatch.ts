import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { ON_BEHALF_HEADER, signedOnBehalfOf } from "#core/http/client-address.ts";
import { hasLongHost } from "#core/http/has-long-host.ts";
import type { Failure } from "#core/log.ts";
import { handleOidc } from "#core/oauth/handler.ts";
import { wellKnownPaths } from "#core/oauth/protocol-routes.ts";
import { isDatabaseUp } from "#core/postgres/availability.ts";
import { isRelayPath } from "#core/relay/relay.ts";
import { isAppPath } from "#core/spaces/door/find-app.ts";
import { handleApi, streamsBody } from "../api/app.ts";
import { isDownload, sendDownload } from "./downloads.ts";
import { admitBody, limitBody } from "./limit-body.ts";
import { type Limits, limitTime } from "./limit-time.ts";
import { allowPageScripts } from "./protect-response.ts";
import { isCrossSite, type Target } from "./read-request.ts";
import { refuseHeavyForm } from "./refuse-heavy-form.ts";
import { serveRelay } from "./relay/serve-relay.ts";
import { isScriptless, removeScripts } from "./remove-scripts.ts";
import { replaceFailedPage } from "./replace-failed-page.ts";
import { databaseAway, sendFailure } from "./send.ts";
import { serveApp } from "./spaces/serve-app.ts";

export type Door = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export const MAX_ACTION_BYTES = 6 * 1024 * 1024;
const MAX_AUTH_BYTES = 64 * 1024;

const WELL_KNOWN: ReadonlySet<string> = new Set(wellKnownPaths);

/** Programs' paths go straight to their handlers, because Next would take five times as long. */
export function dispatch(
  next: Door,
  req: IncomingMessage,
  res: ServerResponse,
  target: Target & { ip: string | null },
): Promise<void> {
  const { pathname, ip } = target;
  limitTime(req, res, { body: bodyKindOf(req.method ?? "", pathname) });
  if (isAppPath(pathname)) return serveApp(req, res, target);
  if (isRelayPath(pathname)) return serveRelay(req, res, target);
  if (isProtocol(pathname)) return handleOidc(req, res, ip ?? "");
  if (isApi(pathname)) return handleApi(req, res);
  if (isDownload(pathname)) return sendDownload(req, res, pathname);
  if (pathname.startsWith("/_next/")) return sendFile(next, req, res, pathname);
  return dispatchPage(next, req, res, target);
}

/** A body has no time limit only if it is passed on to a Space's app, or if the API route declares that it streams. */
export function bodyKindOf(method: string, pathname: string): Limits["body"] {
  if (isAppPath(pathname)) return "passed_on";
  const isOfApi = !isRelayPath(pathname) && !isProtocol(pathname) && isApi(pathname);
  return isOfApi && streamsBody(method, pathname) ? "transfer" : "whole";
}

export const isProtocol = (pathname: string): boolean => pathname.startsWith("/oauth/") || WELL_KNOWN.has(pathname);

/** `/api/auth` belongs to next-auth, which runs in Next. */
export const isApi = (pathname: string): boolean =>
  (/^\/api(\/|$)/.test(pathname) && !/^\/api\/auth(\/|$)/.test(pathname)) ||
  /^\/(images|avatars|v1|xet)\//.test(pathname) ||
  REPO_TRANSFER.test(pathname) ||
  OWNERLESS_FILE.test(pathname);

/** Clients also request files of repositories without an owner (`gpt2/resolve/…`), and understand only the API's answer. */
const OWNERLESS_FILE = /^\/((datasets|spaces)\/)?[^/]+\/(resolve|raw)\/[^/]+\/.+/;

const REPO_TRANSFER =
  /^\/(?!api\/)((models|datasets|spaces)\/)?[^/]+\/[^/]+\/(info\/refs|git-(upload|receive)-pack|info\/lfs\/.+|(resolve|raw)\/.+)$/;

/**
 * Below `/_next/` but outside of `static`, Next would render a page or scale pictures (S137). For a POST, it would run an action
 * without the checks of pages.
 */
async function sendFile(next: Door, req: IncomingMessage, res: ServerResponse, pathname: string): Promise<void> {
  if (!pathname.startsWith("/_next/static/") && env().NODE_ENV !== "development") return sendFailure(req, res, noFile);
  if (req.method === "GET" || req.method === "HEAD") {
    if (acceptsBrotli(req) && isCompressed(pathname)) {
      req.url = `${pathname}.br`;
      res.setHeader("Content-Type", pathname.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8");
      res.setHeader("Content-Encoding", "br");
      res.setHeader("Vary", "Accept-Encoding");
    }
    return next(req, res);
  }
  res.setHeader("Allow", "GET, HEAD");
  sendFailure(req, res, { status: 405, error: "invalid_request", description: "This URL supports only GET and HEAD" });
}

const acceptsBrotli = ({ headers }: IncomingMessage): boolean => /(^|[\s,])br([\s,]|$)/i.test(`${headers["accept-encoding"]}`);

const CHUNK = /^\/_next\/static(\/chunks\/[\w.~-]+\.(?:js|css))$/;
const known = new Set<string>();

/** The build's brotli copy is a fifth smaller than what Next compresses. */
function isCompressed(pathname: string): boolean {
  const [, file] = CHUNK.exec(pathname) ?? [];
  if (file === undefined) return false;
  // Only existing files are remembered, because anybody can invent other names (S137).
  if (!known.has(file) && existsSync(join(import.meta.dirname, "../.next/static", `${file}.br`))) known.add(file);
  return known.has(file);
}

/** `_log` is left out, because anybody could write errors into the service's log through it. */
const NEXT_AUTH = /^\/api\/auth\/(csrf|error|providers|session|signin|signout)$/;

async function dispatchPage(
  next: Door,
  req: IncomingMessage,
  res: ServerResponse,
  { pathname, search, ip }: Target & { ip: string | null },
): Promise<void> {
  // Next decodes a path before it chooses the page.
  const isNextAuth = decodeURIComponent(pathname).startsWith("/api/auth/");
  if (isNextAuth && !NEXT_AUTH.test(pathname)) return sendFailure(req, res, noFile);
  if (isCrossSite(req)) return sendFailure(req, res, crossSite);
  if (isNextAuth) {
    // next-auth fails on invalid JSON. Its pages and ours send only forms.
    if (hasBody(req) && !isForm(req)) return sendFailure(req, res, notAForm);
    if (!isForNextAuth(search)) return sendFailure(req, res, notForNextAuth);
    const { cookie } = req.headers;
    if (cookie) req.headers.cookie = cookie.replace(/(next-auth\.callback-url=)[^;]*/g, "$1");
  }
  // For a path such as `login.rsc`, Next would send the data of the page `login`, or another file than the requested one.
  if (pathname.endsWith(".rsc")) req.url = req.url?.replace(/\.rsc(?=\?|$)/, "%2Ersc");
  let maxBytes = isNextAuth ? MAX_AUTH_BYTES : MAX_ACTION_BYTES;
  const over = new AbortController();
  limitBody(
    req,
    () => maxBytes,
    () => {
      sendFailure(req, res, tooLarge);
      over.abort();
    },
  );
  if (res.writableEnded) return;
  // `replaceFailedPage` must see the body from the first byte, so nothing is awaited before.
  replaceFailedPage(next, req, res);
  // Without this check, Next would answer a page that fails because of the database with 500.
  if (!(await isDatabaseUp(pool()))) return sendFailure(req, res, databaseAway);
  const admitted = await admitBody(req, maxBytes);
  if (typeof admitted !== "number") return sendFailure(req, res, admitted);
  maxBytes = admitted;
  const refusal = await refuseHeavyForm(req, over.signal);
  if (res.writableEnded || req.destroyed) return;
  if (refusal) return sendFailure(req, res, refusal);
  if (isScriptless(pathname)) removeScripts(req, res);
  else allowPageScripts(req, res);
  req.headers[ON_BEHALF_HEADER] = signedOnBehalfOf(ip);
  return next(req, res);
}

const noFile: Failure = { status: 404, error: "not_found", description: "This file does not exist" };
const crossSite: Failure = { status: 403, error: "forbidden", description: "This form was sent from another site" };
const notAForm: Failure = { status: 415, error: "invalid_request", description: "Only forms are supported" };
const tooLarge: Failure = { status: 413, error: "payload_too_large", description: "The request is too large" };

const notForNextAuth: Failure = {
  status: 400,
  error: "invalid_request",
  description: "callbackUrl must be a URL, and error must be one word",
};

/**
 * next-auth fails on an invalid callback URL, also in a cookie, and on an error that does not fit into a header (S51). It also parses
 * the URL several times (S138).
 */
function isForNextAuth(search: string): boolean {
  const query = new URLSearchParams(search);
  const protocolOf = (url: string) => URL.parse(url, url.startsWith("/") ? env().ORIGIN : undefined)?.protocol ?? "";
  const hasShortHost = (url: string) => !hasLongHost(/^[/\\]{2}/.test(url) ? `https:${url}` : url);
  const isUrl = (url: string) => url === "" || (hasShortHost(url) && /^https?:$/.test(protocolOf(url)));
  return query.getAll("callbackUrl").every(isUrl) && query.getAll("error").every((error) => /^\w*$/.test(error));
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const isForm = ({ headers }: IncomingMessage): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "");
