import { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { repoPath, repoTypes } from "@keyhook/sdk";
import type { Context, Next } from "hono";
import { cors } from "hono/cors";
import { type ByteRange, isTagAmong, parseRange } from "#core/http/byte-range.ts";
import { contentTypeOf } from "#core/hub/git/read/content-type.ts";
import { type FoundFile, findFile } from "#core/hub/git/read/find-file.ts";
import { isOnBranch } from "#core/hub/git/read/is-on-branch.ts";
import { openFile, TO_OPEN } from "#core/hub/git/read/open-file.ts";
import { splitRevision } from "#core/hub/git/read/split-revision.ts";
import { lfsDownloadAddress } from "#core/hub/lfs/objects/open-lfs-object.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";
import { isTrue, notOnBranch, segmentsOf } from "./repo-route.ts";
import { visitorOf } from "./visitor.ts";

/** Raw files: `resolve` returns the content, `raw` what git holds, which for a file in Git LFS is its pointer. */
export const fileRoutes = openApiRoutes();

const methods = ["resolve", "raw"] as const;

/** Headers that clients in browsers read. */
const EXPOSED = [
  "X-Repo-Commit",
  "X-Repo-Commit-On-Branch",
  "X-Linked-Size",
  "X-Linked-ETag",
  "ETag",
  "Content-Length",
  "Content-Range",
  "Accept-Ranges",
];
const EXPOSED_ERRORS = ["Content-Disposition", "X-Request-Id", "X-Error-Code", "X-Error-Message", "WWW-Authenticate"];
const anyOrigin = cors({
  origin: "*",
  allowMethods: ["GET", "HEAD"],
  allowHeaders: ["Authorization", "DPoP", "Range", "If-None-Match", "If-Range"],
  exposeHeaders: [...EXPOSED, ...EXPOSED_ERRORS],
  maxAge: 3600,
});

for (const type of repoTypes) {
  const prefix = repoPath(type, "");
  for (const method of methods) {
    const pattern = `${prefix}:owner/:name/${method}/:rev/*`;
    const serve = async (c: Context, next: Next) => {
      const [owner = "", name = "", , ...rest] = segmentsOf(c).slice(prefix.split("/").length - 1);
      // A model's URL has the shape of many others.
      if (type === "model" && owner === "api") return next();
      return serveFile(c, { type, owner, name }, { ...splitRevision(rest), isPointer: method === "raw" });
    };
    fileRoutes.use(pattern, anyOrigin);
    fileRoutes.get(pattern, serve);
    fileRoutes.openAPIRegistry.registerPath({
      method: "get",
      path: `${prefix}{owner}/{name}/${method}/{rev}/{path}`,
      summary: method === "resolve" ? "Download a file" : "Download a file as git holds it",
      security: withOrWithoutToken,
      request: { params: z.object({ owner: z.string(), name: z.string(), rev: z.string(), path: z.string() }) },
      responses: {
        200: { description: "The file", content: { "application/octet-stream": { schema: z.string() } } },
        206: { description: "A part of it" },
        302: { description: "Where the content of a file in Git LFS is" },
        304: { description: "It has not changed" },
        416: { description: "There is no such part of it; `Content-Range` says how large it is" },
      },
    });
  }
}

type Asked = { revision: string; path: string; isPointer: boolean };

async function serveFile(c: Context, name: Parameters<typeof findRepo>[1], { isPointer, ...where }: Asked): Promise<Response> {
  const repo = await findRepo(await visitorOf(c), name, "repo.read_content");
  const file = await findFile(repo, { ...where, ...TO_OPEN });
  const { etag, size, headers } = factsOf(repo, file, { isPointer, isDownload: isTrue(c.req.query("download")) });
  if (!(await isOnBranch(repo, file.revision))) Object.assign(headers, notOnBranch);
  if (isTagAmong(c.req.header("If-None-Match"), etag)) return c.body(null, 304, headers);
  if (file.entry.lfs && !isPointer) {
    const { type } = contentTypeOf(file.entry.name);
    const address = await lfsDownloadAddress(repo, file.entry.lfs.oid, { fileName: file.entry.name, contentType: type });
    if (address) return c.body(null, 302, { ...headers, Location: address });
  }
  const range = rangeOf(c, etag, size);
  if (range === "unsatisfiable") return c.body(null, 416, { ...headers, "Content-Range": `bytes */${size}` });
  const length = range ? range.end - range.start + 1 : size;
  const all: Record<string, string> = { ...headers, "Content-Length": String(length) };
  if (range) all["Content-Range"] = `bytes ${range.start}-${range.end}/${size}`;
  // An empty file has no ranges; the JavaScript client learns the size only from this header.
  else if (size === 0 && c.req.header("Range")) all["Content-Range"] = "bytes */0";
  const status = range ? 206 : 200;
  if (c.req.method === "HEAD") return c.body(null, status, all);
  const content = await openFile(repo, file, { range, isPointer });
  const body = Buffer.isBuffer(content) ? Uint8Array.from(content) : (Readable.toWeb(content) as ReadableStream);
  return c.body(body, status, all);
}

function rangeOf(c: Context, etag: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const condition = c.req.header("If-Range");
  // A date is not one of our tags: the whole file is sent.
  if (size === 0 || (condition !== undefined && condition !== etag)) return undefined;
  return parseRange(c.req.header("Range"), size);
}

function factsOf(repo: Repo, file: FoundFile, { isPointer, isDownload }: { isPointer: boolean; isDownload: boolean }) {
  const { entry, sha, start, storedSize } = file;
  const lfs = isPointer ? undefined : entry.lfs;
  const { type, kind } = contentTypeOf(entry.name, lfs ? undefined : start);
  const etag = `"${lfs?.oid ?? entry.oid}"`;
  const isOpen = !repo.isPrivate && repo.gated === "none";
  return {
    etag,
    size: lfs?.size ?? storedSize,
    headers: {
      "Content-Type": type,
      "Content-Disposition": disposition(kind === "other" || isDownload ? "attachment" : "inline", entry.name),
      // Whatever a user put into a file, nothing in it runs on our origin.
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "X-Content-Type-Options": "nosniff",
      "Accept-Ranges": "bytes",
      ETag: etag,
      "X-Repo-Commit": sha,
      ...(lfs && { "X-Linked-Size": String(lfs.size), "X-Linked-ETag": etag }),
      // Cached, but revalidated each time: access to it, and a branch's commit, can change.
      "Cache-Control": isOpen ? "no-cache" : "private, no-cache",
      Vary: "Authorization, Cookie, Origin",
    } as Record<string, string>,
  };
}

/** RFC 6266: any name, and an ASCII version for old clients. */
function disposition(kind: "attachment" | "inline", name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
