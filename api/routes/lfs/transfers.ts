import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { z } from "zod";
import { ServiceError } from "#core/errors.ts";
import { storeLfsObject } from "#core/hub/lfs/objects/store-lfs-object.ts";
import { completeUpload, verifyUpload } from "#core/hub/lfs/transfer/finish-upload.ts";
import { readTransfer, type Transfer } from "#core/hub/lfs/transfer/transfer-authorization.ts";
import { requireUploader } from "#core/hub/lfs/transfer/uploader.ts";
import { listOf } from "../open-api.ts";
import { lfsBody } from "./answer-lfs-error.ts";
import { readJson } from "./batch.ts";
import { sendLfsObject } from "./send-lfs-object.ts";

/** An upload without data for this long was abandoned. */
const IDLE_MS = 60_000;

const allowedTransfer = (c: Context, operation: Transfer["operation"]): Transfer =>
  readTransfer(c.req.query("transfer"), { operation, oid: c.req.param("oid") ?? "" });

async function allowedUpload(c: Context): Promise<Transfer> {
  const transfer = allowedTransfer(c, "upload");
  await requireUploader(transfer);
  return transfer;
}

/** `GET` and `HEAD …/info/lfs/objects/{oid}` */
export async function downloadObject(c: Context): Promise<Response> {
  const { repoId, oid } = allowedTransfer(c, "download");
  // Sent without the router, which would have added it (index.ts).
  return sendLfsObject(c, { id: repoId }, oid, { "Access-Control-Allow-Origin": "*" });
}

/** `PUT …/info/lfs/objects/{oid}`: streams any number of bytes from the connection to storage. */
export async function uploadObject(c: Context<{ Bindings: HttpBindings }>): Promise<Response> {
  const { repoId, oid, size } = await allowedUpload(c);
  const length = c.req.header("Content-Length");
  if (length !== undefined && Number(length) !== size) {
    throw new ServiceError("invalid_request", `The content has ${length} bytes, not the ${size} announced.`);
  }
  await storeLfsObject(repoId, { oid, size }, bytesOf(c.env.incoming));
  return lfsBody(c, {});
}

const named = z.object({ oid: z.string(), size: z.number() });

/** `POST …/info/lfs/objects/{oid}/verify` */
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

/** `POST …/info/lfs/objects/{oid}/complete`: all parts have been uploaded. */
export async function completeObject(c: Context): Promise<Response> {
  const transfer = await allowedUpload(c);
  const { parts } = await readJson(c, uploaded);
  await completeUpload(transfer, parts);
  return lfsBody(c, {});
}

/** A request that ends too early is an upload that ended half-way, not a failure of ours. */
async function* bytesOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  incoming.setTimeout(IDLE_MS, () => incoming.destroy());
  try {
    // The rest of a rejected body is read elsewhere, so that its sender gets to see the response.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (cause) {
    throw new ServiceError("invalid_request", "The upload ended half-way. Upload it again.", { cause });
  } finally {
    incoming.setTimeout(0);
  }
}
