import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { z } from "zod";
import { invalidRequest, notFound } from "#core/errors.ts";
import { sendInTurn } from "#core/fair-queue/send-in-turn.ts";
import { matchesEtag, parseRange } from "#core/http/byte-range.ts";
import { openLfsObject } from "#core/hub/lfs/objects/open-lfs-object.ts";
import { storeLfsObject } from "#core/hub/lfs/objects/record-lfs-object.ts";
import { findReadableLfsObject } from "#core/hub/lfs/proposals/proposed-files.ts";
import { completeUpload, verifyUpload } from "#core/hub/lfs/transfer/finish-upload.ts";
import { readTransfer, type Transfer } from "#core/hub/lfs/transfer/transfer-authorization.ts";
import { requireUploader } from "#core/hub/lfs/transfer/uploader.ts";
import { log } from "#core/log.ts";
import { listOf } from "../../refuse-bad-input.ts";
import { bytesOf } from "../incoming-bytes.ts";
import { lfsBody, readJson } from "./lfs-json.ts";

const allowedTransfer = (c: Context, operation: Transfer["operation"]): Transfer =>
  readTransfer(c.req.query("transfer"), { operation, oid: c.req.param("oid") ?? "" });

async function allowedUpload(c: Context): Promise<Transfer> {
  const transfer = allowedTransfer(c, "upload");
  await requireUploader(transfer);
  return transfer;
}

export async function downloadObject(c: Context): Promise<Response> {
  const { repoId, oid } = allowedTransfer(c, "download");
  return sendLfsObject(c, { id: repoId }, oid);
}

export async function uploadObject(c: Context<{ Bindings: HttpBindings }>): Promise<Response> {
  const { repoId, oid, size } = await allowedUpload(c);
  const length = c.req.header("Content-Length");
  if (length !== undefined && Number(length) !== size) {
    throw invalidRequest(`The content has ${length} bytes, not the announced ${size}.`);
  }
  await storeLfsObject(repoId, { oid, size }, bytesOf(c.env.incoming));
  return lfsBody(c, {});
}

const named = z.object({ oid: z.string(), size: z.number() });

export async function verifyObject(c: Context): Promise<Response> {
  const transfer = await allowedUpload(c);
  await verifyUpload(transfer, await readJson(c, named));
  return lfsBody(c, {});
}

const uploaded = z.object({
  parts: listOf(z.object({ partNumber: z.int().min(1).max(10_000), etag: z.string().max(200) }), {
    max: 10_000,
    of: "parts",
    code: "invalid_request",
  }),
});

export async function completeObject(c: Context): Promise<Response> {
  const transfer = await allowedUpload(c);
  const { parts } = await readJson(c, uploaded);
  await completeUpload(transfer, parts);
  return lfsBody(c, {});
}

// The content may be anything, and comes from our own origin. The browser must save the file instead of showing it (S24).
const headers = {
  "Content-Type": "application/octet-stream",
  "Content-Disposition": "attachment",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
  // This response bypasses the router, which would have added the header.
  "Access-Control-Allow-Origin": "*",
};

async function sendLfsObject(c: Context, repo: { id: string }, oid: string): Promise<Response> {
  const object = await findReadableLfsObject(repo.id, oid);
  if (!object) throw notFound("Entry");
  const { size } = object;
  const etag = `"${oid}"`;
  const common = { ...headers, "Cache-Control": "private", ETag: etag, "Accept-Ranges": "bytes" };
  if (matchesEtag(c.req.header("If-None-Match"), etag)) return new Response(null, { status: 304, headers: common });
  const isSame = [undefined, etag].includes(c.req.header("If-Range"));
  const range = c.req.method === "GET" && isSame ? parseRange(c.req.header("Range"), size) : undefined;
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...common, "Content-Range": `bytes */${size}` } });
  }
  const length = range ? range.end - range.start + 1 : size;
  const all = { ...common, "Content-Length": String(length) };
  if (c.req.method === "HEAD") return new Response(null, { headers: all });
  const stream = await openLfsObject(repo, object, range && { range });
  const partial = range && { "Content-Range": `bytes ${range.start}-${range.end}/${size}` };
  await send(c.env.outgoing, stream, range ? 206 : 200, { ...all, ...partial });
  return RESPONSE_ALREADY_SENT;
}

/** Node's own streams are used, because Web streams take more processor time than reading the file. */
async function send(res: ServerResponse, stream: NodeJS.ReadableStream, status: number, headers: OutgoingHttpHeaders) {
  res.writeHead(status, headers);
  // A response that was begun cannot become an error.
  await pipeline([stream, ...sendInTurn(), res]).catch((err: unknown) => log().debug({ err }, "a download ended half-way"));
}
