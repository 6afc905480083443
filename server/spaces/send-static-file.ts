import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import mime from "mime";
import { isServiceError } from "#core/errors.ts";
import { isTagAmong, parseRange } from "#core/http/byte-range.ts";
import { type FoundFile, findFile } from "#core/hub/git/read/find-file.ts";
import { openFile, TO_OPEN } from "#core/hub/git/read/open-file.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { answerHeaders } from "#core/spaces/door/app-headers.ts";
import type { FoundApp } from "#core/spaces/door/find-app.ts";
import { type AppFailure, sendAppFailure } from "./send-app-failure.ts";

/** Serves a file of a static Space with its own type: a page as a page, a script as a script. The sandbox gives it an origin of its own. */
export async function sendStaticFile(
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
    if (!isFolder) return sendAppFailure(req, res, path === "" ? noPage(index) : notThere);
    res.writeHead(302, answerHeaders({ location: `${app.base}${app.path.slice(1)}/` }, app)).end();
    return;
  }
  const { entry, storedSize } = file;
  const [etag, size] = [`"${entry.lfs?.oid ?? entry.oid}"`, entry.lfs?.size ?? storedSize];
  const headers = answerHeaders(
    { etag, "accept-ranges": "bytes", "cache-control": "no-cache", "content-type": typeOf(entry.name) },
    app,
  );
  if (isTagAmong(req.headers["if-none-match"], etag)) return void res.writeHead(304, headers).end();
  const range = req.headers["if-range"] === undefined ? parseRange(req.headers.range, size) : undefined;
  if (range === "unsatisfiable") return void res.writeHead(416, { ...headers, "content-range": `bytes */${size}` }).end();
  const length = range ? range.end - range.start + 1 : size;
  // Opened first: if Git LFS lacks the content, the status is not 200.
  const content = req.method === "HEAD" ? undefined : await openFile(app.repo, file, { ...(range && { range }) }).catch(gone);
  if (content === null) return sendAppFailure(req, res, notThere);
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
  return findFile(repo, { revision: repo.headSha, path, maxBytes: TO_OPEN.maxBytes }).catch((error: unknown) => {
    if (isServiceError(error) && error.code === "not_found") return undefined;
    throw error;
  });
}

function gone(error: unknown): null {
  if (isServiceError(error) && (error.code === "not_found" || error.code === "gone")) return null;
  throw error;
}

function typeOf(name: string): string {
  const type = mime.getType(name) ?? "application/octet-stream";
  return /^text\/|javascript|json$/.test(type) ? `${type}; charset=utf-8` : type;
}

const notThere: AppFailure = {
  status: 404,
  error: "not_found",
  title: "There is no such page",
  text: "This Space has no file of this name.",
};
const noPage = (index: string): AppFailure => ({
  status: 404,
  error: "no_app",
  title: "There is nothing to show yet",
  text: `This Space shows its files, and has no ${index}.`,
});
const onlyFiles: AppFailure = {
  status: 405,
  error: "invalid_request",
  title: "This Space only shows files",
  text: "Nothing of it runs that could take what was sent.",
};
