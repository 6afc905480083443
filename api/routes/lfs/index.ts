import type { Context } from "hono";
import { cors } from "hono/cors";
import { gitPaths } from "../../repo-name.ts";
import { openApiRoutes } from "../open-api.ts";
import { answerLfsError, lfsBody } from "./answer-lfs-error.ts";
import { answerBatch } from "./batch.ts";
import { completeObject, downloadObject, uploadObject, verifyObject } from "./transfers.ts";

/** The routes of Git LFS: the batch API, and the URLs that it returns. They are git's, and not in the OpenAPI document. */
export const lfsRoutes = openApiRoutes();

// S53: the JavaScript client also uploads from other sites' pages. Cookies are never used here.
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

/** Before each push git-lfs asks whether the pushed files are locked; it continues when told that locks are not supported. */
function refuseLocks(c: Context): Response {
  return lfsBody(c, { message: "This service has no locks." }, 501);
}
