import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { repoPath } from "@keyhook/sdk";
import mime from "mime";
import { isDatabaseDown } from "#core/database-errors.ts";
import { isServiceError } from "#core/errors.ts";
import { matchesEtag, parseRange } from "#core/http/byte-range.ts";
import { type FoundFile, findFile, OPEN_FILE_LIMITS, openFile } from "#core/hub/git/read/find-file.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { newId } from "#core/ids.ts";
import { requestContext } from "#core/log.ts";
import { answerHeaders, preflightHeaders, sandboxHeaders } from "#core/spaces/door/app-headers.ts";
import { type FoundApp, parseAppTarget } from "#core/spaces/door/find-app.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { limitBody } from "../limit-body.ts";
import type { Target } from "../read-request.ts";
import { openApp, recheckVisit, staysOpen } from "./open-app.ts";
import { passToApp } from "./pass-to-app.ts";
import { type AppFailure, sendAppFailure } from "./send-app-failure.ts";

const APP_REQUEST_MAX_BYTES = 100 * 1024 * 1024;

/** docs/decisions/057-spaces.md describes this door. */
export async function serveApp(req: IncomingMessage, res: ServerResponse, target: Target & { ip: string | null }): Promise<void> {
  for (const [name, value] of Object.entries(sandboxHeaders)) res.setHeader(name, value);
  const wanted = parseAppTarget(target.sentPath);
  if (!wanted) return sendAppFailure(req, res, malformed);
  // A service worker would stay and answer for whole paths of this origin (Service Workers §6).
  if (req.headers["service-worker"] !== undefined) return sendAppFailure(req, res, noServiceWorkers);
  if (req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined) {
    res.writeHead(204, { ...sandboxHeaders, ...preflightHeaders(req.headers) }).end();
    return;
  }
  let app: FoundApp;
  try {
    app = await openApp(req, wanted);
  } catch (error) {
    return sendAppFailure(req, res, failureOf(error));
  }
  if (app.kind === "elsewhere") {
    const status = req.method === "GET" || req.method === "HEAD" ? 302 : 307;
    res.writeHead(status, { ...sandboxHeaders, Location: app.path + target.search, "Cache-Control": "no-store" }).end();
    return;
  }
  limitBody(
    req,
    () => APP_REQUEST_MAX_BYTES,
    () => sendAppFailure(req, res, tooLarge),
  );
  if (res.writableEnded) return;
  const config = readSpaceConfig(app.repo);
  if (config.kind === "static") {
    return sendStaticFile(req, res, app, config).catch((error: unknown) => sendAppFailure(req, res, failureOf(error)));
  }
  const requestId = requestContext.getStore()?.requestId ?? newId();
  const stopAsking = recheckVisit(staysOpen(req, wanted, app), () => res.destroy());
  const failure = await passToApp(req, res, app, { path: app.path + target.search, ip: target.ip, requestId }).finally(
    stopAsking,
  );
  if (failure) sendAppFailure(req, res, { pagePath: repoPath("space", app.repo.fullName), ...failure });
}

export function failureOf(error: unknown): AppFailure {
  if (isDatabaseDown(error)) return unavailable;
  if (!isServiceError(error)) throw error;
  if (error.code === "not_found" || error.code === "unauthorized") return notThere;
  const { status, code, message, retryAfterSeconds } = error;
  if (code === "unavailable") return { ...busy, text: message, ...(retryAfterSeconds && { retryAfter: retryAfterSeconds }) };
  return { status, error: code, title: "You cannot open this Space", text: message };
}

const malformed: AppFailure = {
  status: 400,
  error: "invalid_request",
  title: "This URL is not valid",
  text: "Open the Space from its page.",
};
const noServiceWorkers: AppFailure = {
  status: 403,
  error: "forbidden",
  title: "Service workers are not allowed",
  text: "The app of a Space cannot install a service worker, which would control more than the app's own pages.",
};
/** The response does not show whether the Space exists (S136). */
const notThere: AppFailure = {
  status: 404,
  error: "not_found",
  title: "Space not found",
  text: "Check its name. If it is private, sign in with an account that can see it.",
  mayNeedSignIn: true,
};
const tooLarge: AppFailure = {
  status: 413,
  error: "payload_too_large",
  title: "The request is too large",
  text: `A request to a Space can be at most ${APP_REQUEST_MAX_BYTES / 1024 ** 2} MiB.`,
};
const busy = { status: 503, error: "unavailable", title: "Too many requests at once" };
const unavailable: AppFailure = {
  status: 503,
  error: "unavailable",
  title: "Temporarily unavailable",
  text: "The service cannot reach its database. Nothing was lost: try again in a few seconds.",
  retryAfter: 2,
};

/** The app runs in a sandbox without this origin, so each file can be sent with its own type. */
async function sendStaticFile(
  req: IncomingMessage,
  res: ServerResponse,
  app: Extract<FoundApp, { kind: "app" }>,
  { index }: { index: string },
): Promise<void> {
  if (req.method !== "GET" && req.method !== "HEAD") return sendAppFailure(req, res, onlyFiles);
  const path = decodeURIComponent(app.path).replace(/^\//, "");
  const file = await find(app.repo, path === "" || path.endsWith("/") ? path + index : path);
  if (!file) {
    const isFolder = path !== "" && !path.endsWith("/") && (await find(app.repo, `${path}/${index}`));
    if (!isFolder) return sendAppFailure(req, res, path === "" ? noPage(index) : noFile);
    res.writeHead(302, answerHeaders({ location: `${app.base}${app.path.slice(1)}/` }, app)).end();
    return;
  }
  const { entry, storedSize } = file;
  const [etag, size] = [`"${entry.lfs?.oid ?? entry.oid}"`, entry.lfs?.size ?? storedSize];
  const headers = answerHeaders(
    { etag, "accept-ranges": "bytes", "cache-control": "no-cache", "content-type": typeOf(entry.name) },
    app,
  );
  if (matchesEtag(req.headers["if-none-match"], etag)) return void res.writeHead(304, headers).end();
  const range = req.headers["if-range"] === undefined ? parseRange(req.headers.range, size) : undefined;
  if (range === "unsatisfiable") return void res.writeHead(416, { ...headers, "content-range": `bytes */${size}` }).end();
  const length = range ? range.end - range.start + 1 : size;
  // The file is opened first, because the status is not 200 if Git LFS lacks the content.
  const content =
    req.method === "HEAD" ? undefined : await openFile(app.repo, file, { ...(range && { range }) }).catch(nullIfMissing);
  if (content === null) return sendAppFailure(req, res, noFile);
  res.writeHead(range ? 206 : 200, {
    ...headers,
    "content-length": length,
    ...(range && { "content-range": `bytes ${range.start}-${range.end}/${size}` }),
  });
  if (content === undefined || Buffer.isBuffer(content)) return void res.end(content);
  await pipeline(content, res).catch(() => res.destroy());
}

async function find(repo: Repo, path: string): Promise<FoundFile | undefined> {
  if (repo.headSha === null) return undefined;
  return findFile(repo, { revision: repo.headSha, path, maxBytes: OPEN_FILE_LIMITS.maxBytes }).catch((error: unknown) => {
    if (isServiceError(error) && error.code === "not_found") return undefined;
    throw error;
  });
}

function nullIfMissing(error: unknown): null {
  if (isServiceError(error) && (error.code === "not_found" || error.code === "gone")) return null;
  throw error;
}

function typeOf(name: string): string {
  const type = mime.getType(name) ?? "application/octet-stream";
  return /^text\/|javascript|json$/.test(type) ? `${type}; charset=utf-8` : type;
}

const noFile: AppFailure = {
  status: 404,
  error: "not_found",
  title: "Page not found",
  text: "This Space has no file with this name.",
};
const noPage = (index: string): AppFailure => ({
  status: 404,
  error: "no_app",
  title: "Nothing to show yet",
  text: `This Space serves its files, but has no ${index}.`,
});
const onlyFiles: AppFailure = {
  status: 405,
  error: "invalid_request",
  title: "This Space only serves files",
  text: "It has no program that could accept data.",
};
