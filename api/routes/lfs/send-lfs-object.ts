import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { notFound } from "#core/errors.ts";
import { isTagAmong, parseRange } from "#core/http/byte-range.ts";
import { findLfsObject } from "#core/hub/lfs/objects/find-lfs-object.ts";
import { openLfsObject } from "#core/hub/lfs/objects/open-lfs-object.ts";
import { log } from "#core/log.ts";

// Its content is unknown, and it comes from our own origin: it is saved, and nothing in it runs (S24).
const inert = {
  "Content-Type": "application/octet-stream",
  "Content-Disposition": "attachment",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
};

/**
 * Sends an object of a repository, or the part requested by `Range`, as fast as the client reads. The caller has checked that it may be
 * read.
 * @param headers replace or add to those that keep content from running.
 * @throws ServiceError `not_found`, `gone`
 */
export async function sendLfsObject(
  c: Context,
  repo: { id: string },
  oid: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const object = await findLfsObject(repo.id, oid);
  if (!object) throw notFound("Entry");
  const { size } = object;
  const etag = `"${oid}"`;
  const common = { ...inert, "Cache-Control": "private", ETag: etag, "Accept-Ranges": "bytes", ...headers };
  if (isTagAmong(c.req.header("If-None-Match"), etag)) return new Response(null, { status: 304, headers: common });
  const isSame = [undefined, etag].includes(c.req.header("If-Range"));
  const range = c.req.method === "GET" && isSame ? parseRange(c.req.header("Range"), size) : undefined;
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...common, "Content-Range": `bytes */${size}` } });
  }
  const length = range ? range.end - range.start + 1 : size;
  const all = { ...common, "Content-Length": String(length) };
  if (c.req.method === "HEAD") return new Response(null, { headers: all });
  const { stream } = await openLfsObject(repo, oid, range && { range });
  const partial = range && { "Content-Range": `bytes ${range.start}-${range.end}/${size}` };
  await send(c.env.outgoing, stream, range ? 206 : 200, { ...all, ...partial });
  return RESPONSE_ALREADY_SENT;
}

/** Without the Web's streams, which cost more than reading the file. */
async function send(res: ServerResponse, stream: NodeJS.ReadableStream, status: number, headers: OutgoingHttpHeaders) {
  res.writeHead(status, headers);
  // A client that disconnects ends the reading; what was sent cannot be taken back.
  await pipeline(stream, res).catch((err: unknown) => log().debug({ err }, "a download ended half-way"));
}
