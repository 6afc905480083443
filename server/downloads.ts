import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { matchesEtag } from "#core/http/byte-range.ts";
import type { Failure } from "#core/log.ts";
import { sendFailure } from "./send.ts";

const FOLDER = join(import.meta.dirname, "../build/packages");
const NAMES: ReadonlySet<string> = new Set(["keyhook-sdk.tgz", "keyhook-cli.tgz", "keyhook-receiver.tgz"]);

export const isDownload = (pathname: string): boolean => /^\/downloads(\/|$)/.test(pathname);

/** All versions have the same URL, so caches revalidate by tag. */
export async function sendDownload(req: IncomingMessage, res: ServerResponse, pathname: string, folder = FOLDER): Promise<void> {
  const name = pathname.slice("/downloads/".length);
  if (!NAMES.has(name)) return sendFailure(req, res, notThere);
  if (req.method !== "GET" && req.method !== "HEAD") {
    res.setHeader("Allow", "GET, HEAD");
    return sendFailure(req, res, onlyRead);
  }
  const file = await readTarball(join(folder, name));
  if (!file) return sendFailure(req, res, notBuilt);
  const headers = { ETag: file.etag, "Cache-Control": "public, no-cache" };
  if (matchesEtag(req.headers["if-none-match"], file.etag)) return void res.writeHead(304, headers).end();
  res.writeHead(200, { ...headers, "Content-Type": "application/gzip", "Content-Length": file.bytes.length });
  res.end(req.method === "HEAD" ? undefined : file.bytes);
}

type Tarball = { bytes: Buffer; etag: string; builtAt: number };
const known = new Map<string, Tarball>();

async function readTarball(path: string): Promise<Tarball | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    const kept = known.get(path);
    if (kept?.builtAt === mtimeMs) return kept;
    const bytes = await readFile(path);
    const read = { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`, builtAt: mtimeMs };
    known.set(path, read);
    return read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const notThere: Failure = {
  status: 404,
  error: "not_found",
  description: `This download does not exist; available: ${[...NAMES].join(", ")}`,
};
const onlyRead: Failure = { status: 405, error: "invalid_request", description: "Downloads support only GET and HEAD" };
const notBuilt: Failure = {
  status: 503,
  error: "unavailable",
  description: "The packages are not built; the operator can build them with `npm run pack`",
};
