import type { Context } from "hono";
import { gitPaths } from "../../repo-name.ts";
import { openApiRoutes } from "../open-api.ts";
import { answerLfsError, lfsBody } from "./answer-lfs-error.ts";
import { answerBatch } from "./batch.ts";
import { completeObject, downloadObject, uploadObject, verifyObject } from "./transfers.ts";

/** The routes of Git LFS: the batch API, and the addresses that it gives out. They are git's, and not in the OpenAPI document. */
export const lfsRoutes = openApiRoutes();

lfsRoutes.onError(answerLfsError);
for (const path of gitPaths) {
  const base = `${path}/info/lfs`;
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
