import type { Context } from "hono";
import { cors } from "hono/cors";
import { gitPaths } from "../../repo-name.ts";
import { openApiRoutes } from "../open-api.ts";
import { answerLfsError, lfsBody } from "./answer-lfs-error.ts";
import { answerBatch } from "./batch.ts";
import { completeObject, downloadObject, uploadObject, verifyObject } from "./transfers.ts";

/** The routes of Git LFS: the batch API, and the addresses that it gives out. They are git's, and not in the OpenAPI document. */
export const lfsRoutes = openApiRoutes();

// S53: the JavaScript client uploads from pages of others too. Nothing here goes by cookies.
const anyOrigin = cors({
  origin: "*",
  allowHeaders: ["Authorization", "Content-Type", "Accept", "Range", "X-Request-Id"],
  exposeHeaders: ["ETag", "Content-Range", "X-Request-Id", "X-Error-Code", "X-Error-Message"],
  maxAge: 3600,
});

lfsRoutes.onError(answerLfsError);
for (const path of gitPaths) {
  const base = `${path}/info/lfs`;
  lfsRoutes.use(`${base}/*`, anyOrigin);
  lfsRoutes.post(`${base}/objects/batch`, answerBatch);
  lfsRoutes.get(`${base}/objects/:oid`, downloadObject);
  lfsRoutes.put(`${base}/objects/:oid`, uploadObject);
  lfsRoutes.post(`${base}/objects/:oid/verify`, verifyObject);
  lfsRoutes.post(`${base}/objects/:oid/complete`, completeObject);
  lfsRoutes.all(`${base}/locks`, refuseLocks);
  lfsRoutes.all(`${base}/locks/*`, refuseLocks);
}

/** git-lfs asks before each push whether somebody has locked what is pushed; to be told that nobody can, it goes on. */
function refuseLocks(c: Context): Response {
  return lfsBody(c, { message: "This service has no locks." }, 501);
}
