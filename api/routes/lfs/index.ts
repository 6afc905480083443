import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { z } from "zod";
import { answerLfsBatch, OBJECTS_MAX } from "#core/hub/lfs/transfer/answer-batch.ts";
import { asChallenge, gitActorOf, gitPaths, repoNameOf } from "../../git-request.ts";
import { listOf, TRANSFER, takesBody } from "../../refuse-bad-input.ts";
import { answerLfsError, lfsBody, readJson } from "./lfs-json.ts";
import { completeObject, downloadObject, uploadObject, verifyObject } from "./transfers.ts";

export const lfsRoutes = new Hono();

// S53: the JavaScript client also uploads from pages of other sites. Cookies are never used here.
const anyOrigin = cors({
  origin: "*",
  allowHeaders: ["Authorization", "Content-Type", "Accept", "Range", "X-Request-Id"],
  exposeHeaders: ["ETag", "Content-Range", "X-Request-Id", "X-Error-Code", "X-Error-Message"],
  maxAge: 3600,
});

const OBJECTS = { maxBytes: 1024 * 1024 };

lfsRoutes.onError(answerLfsError);
for (const path of gitPaths) {
  const base = `${path}/info/lfs`;
  lfsRoutes.use(`${base}/*`, anyOrigin);
  lfsRoutes.post(`${base}/objects/batch`, takesBody(OBJECTS), answerBatch);
  lfsRoutes.get(`${base}/objects/:oid`, downloadObject);
  lfsRoutes.put(`${base}/objects/:oid`, takesBody(TRANSFER), uploadObject);
  lfsRoutes.post(`${base}/objects/:oid/verify`, takesBody(OBJECTS), verifyObject);
  lfsRoutes.post(`${base}/objects/:oid/complete`, takesBody(OBJECTS), completeObject);
  lfsRoutes.all(`${base}/locks`, refuseLocks);
  lfsRoutes.all(`${base}/locks/*`, refuseLocks);
}

/** Git-lfs asks before each push, and continues without locks after this response. */
function refuseLocks(c: Context): Response {
  return lfsBody(c, { message: "This service does not support locks." }, 501);
}

/** Git LFS has about six kinds of transfer. */
const TRANSFERS_MAX = 100;

const batch = z.object({
  operation: z.enum(["download", "upload"]),
  transfers: listOf(z.string(), { max: TRANSFERS_MAX, of: "transfers" }).nullish(),
  hash_algo: z.string().nullish(),
  /** With a pull request's ref, users without write access may upload too. */
  ref: z.object({ name: z.string() }).nullish(),
  objects: listOf(z.object({ oid: z.unknown(), size: z.unknown() }), { max: OBJECTS_MAX, of: "objects" }),
});

async function answerBatch(c: Context): Promise<Response> {
  const actor = await gitActorOf(c);
  const { operation, transfers, hash_algo, objects, ref } = await readJson(c, batch);
  try {
    const answer = await answerLfsBatch(actor, repoNameOf(c.req.param()), {
      operation,
      transfers: transfers ?? [],
      ...(hash_algo && { hashAlgorithm: hash_algo }),
      objects: objects as { oid: unknown; size: unknown }[],
      ref: ref?.name,
    });
    return lfsBody(c, answer);
  } catch (error) {
    throw asChallenge(actor, error);
  }
}
