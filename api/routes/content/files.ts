import { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { repoPath } from "@keyhook/sdk";
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { cors } from "hono/cors";
import { type Actor, personActor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { type ByteRange, matchesEtag, parseRange } from "#core/http/byte-range.ts";
import { contentTypeOf } from "#core/hub/git/read/content-type.ts";
import { type FoundFile, findFile, OPEN_FILE_LIMITS, openFile } from "#core/hub/git/read/find-file.ts";
import { isOnBranch, splitRevision } from "#core/hub/git/read/revision.ts";
import { lfsDownloadUrl } from "#core/hub/lfs/objects/open-lfs-object.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { findXetHashes } from "#core/hub/xet/read-file.ts";
import { xetTokenUrlOf, xetUrlOf } from "#core/hub/xet/xet-token.ts";
import { actorOf } from "../../actor.ts";
import type { Route } from "../../define-route.ts";
import { families, operationOf } from "../../openapi/operation.ts";
import { isTrue, notOnBranch, segmentsOf } from "./content-route.ts";

const EXPOSED = [
  "X-Repo-Commit",
  "X-Repo-Commit-On-Branch",
  "X-Linked-Size",
  "X-Linked-ETag",
  "X-Xet-Hash",
  "Link",
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

export const fileRoutes = [
  defineFileRoute("resolve", "downloadRepoFile", "Download a file"),
  defineFileRoute("raw", "downloadRawRepoFile", "Download a file as git stores it"),
];

/** These URLs are outside the API, and a page's cookie is enough to read. Therefore `defineRoute` does not fit. */
function defineFileRoute(segment: "resolve" | "raw", operationId: string, summary: string): Route {
  const operation = { operationId, action: "repo.read_content", actor: "anyone", summary } as const;
  return (api) => {
    for (const address of families.TYPES) {
      const { type } = address;
      const prefix = repoPath(type, "");
      const pattern = `${prefix}:owner/:name/${segment}/:rev/*`;
      api.use(pattern, anyOrigin);
      api.get(pattern, async (c, next) => {
        const [owner = "", name = "", , ...rest] = segmentsOf(c).slice(prefix.split("/").length - 1);
        // URLs of the API can have the form of a model's URL.
        if (type === "model" && owner === "api") return next();
        return serveFile(c, { type, owner, name }, { ...splitRevision(rest), isPointer: segment === "raw" });
      });
      api.openAPIRegistry.registerPath({
        method: "get",
        path: `${prefix}{owner}/{name}/${segment}/{rev}/{path}`,
        ...operationOf(operation, address),
        request: { params: z.object({ owner: z.string(), name: z.string(), rev: z.string(), path: z.string() }) },
        responses: {
          200: { description: "The file", content: { "application/octet-stream": { schema: z.string() } } },
          206: { description: "The requested part of the file" },
          302: { description: "Redirects to the content of a file in Git LFS" },
          304: { description: "The file still matches the ETag in `If-None-Match`" },
          416: { description: "The file has no such part; `Content-Range` gives its size" },
        },
      });
    }
  };
}

type Asked = { revision: string; path: string; isPointer: boolean };

async function serveFile(c: Context, name: RepoName, { isPointer, ...where }: Asked): Promise<Response> {
  const repo = await findRepo(await visitorOf(c), name, "repo.read_content");
  const file = await findFile(repo, { ...where, ...OPEN_FILE_LIMITS });
  const xetHash = isPointer || !file.entry.lfs ? undefined : await xetHashOf(repo, file.entry.lfs.oid);
  const { etag, size, headers } = factsOf(repo, file, { isPointer, isDownload: isTrue(c.req.query("download")) });
  if (!(await isOnBranch(repo, file.revision))) Object.assign(headers, notOnBranch);
  if (matchesEtag(c.req.header("If-None-Match"), etag)) return c.body(null, 304, headers);
  if (xetHash) {
    Object.assign(headers, xetHeaders(repo, file.sha, xetHash));
    if (c.req.header("Accept")?.includes(XET_INFO)) return c.body(null, 200, { ...headers, "Content-Type": XET_INFO });
  }
  if (file.entry.lfs && !isPointer) {
    const { type } = contentTypeOf(file.entry.name);
    const url = await lfsDownloadUrl(repo, file.entry.lfs, { fileName: file.entry.name, contentType: type });
    if (url) return c.body(null, 302, { ...headers, Location: url });
  }
  const range = rangeOf(c, etag, size);
  if (range === "unsatisfiable") return c.body(null, 416, { ...headers, "Content-Range": `bytes */${size}` });
  const length = range ? range.end - range.start + 1 : size;
  const all: Record<string, string> = { ...headers, "Content-Length": String(length) };
  if (range) all["Content-Range"] = `bytes ${range.start}-${range.end}/${size}`;
  // An empty file has no ranges. The JavaScript client learns the size only from this header.
  else if (size === 0 && c.req.header("Range")) all["Content-Range"] = "bytes */0";
  const status = range ? 206 : 200;
  if (c.req.method === "HEAD") return c.body(null, status, all);
  const content = await openFile(repo, file, { range, isPointer });
  const body = Buffer.isBuffer(content) ? Uint8Array.from(content) : (Readable.toWeb(content) as ReadableStream);
  return c.body(body, status, all);
}

/** Accepts a page's cookie for these reads. `SameSite=Lax` and CORS keep other sites from reading with the cookie (S53). */
async function visitorOf(c: Context): Promise<Actor> {
  const token = c.req.header("Authorization") ? undefined : getCookie(c, siteSessionCookie().name);
  const session = token ? await findSiteSession(token) : undefined;
  if (!session) return actorOf(c);
  const actor = personActor(session);
  countAgainst(actor);
  return actor;
}

/** With this media type, the hub's JavaScript client requests the file's location in Xet. */
const XET_INFO = "application/vnd.xet-fileinfo+json";

const xetHashOf = async (repo: Repo, oid: string): Promise<string | undefined> => (await findXetHashes(repo.id, [oid])).get(oid);

function xetHeaders(repo: Repo, sha: string, hash: string): Record<string, string> {
  const auth = `<${xetTokenUrlOf(repo, "read", sha)}>; rel="xet-auth"`;
  return {
    "X-Xet-Hash": hash,
    Link: `${auth}, <${xetUrlOf(repo.id)}/v1/reconstructions/${hash}>; rel="xet-reconstruction-info"`,
    Vary: "Accept, Authorization, Cookie, Origin",
  };
}

function rangeOf(c: Context, etag: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const condition = c.req.header("If-Range");
  // A date never equals our entity tags, so the whole file is sent.
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
      // No user's file may run as a script on our origin.
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "X-Content-Type-Options": "nosniff",
      "Accept-Ranges": "bytes",
      ETag: etag,
      "X-Repo-Commit": sha,
      ...(lfs && { "X-Linked-Size": String(lfs.size), "X-Linked-ETag": etag }),
      // Access to the file and the commit of a branch can change, so caches revalidate.
      "Cache-Control": isOpen ? "no-cache" : "private, no-cache",
      Vary: "Authorization, Cookie, Origin",
    } as Record<string, string>,
  };
}

/** The file's name as in RFC 6266, and an ASCII version for old clients. */
function disposition(kind: "attachment" | "inline", name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
