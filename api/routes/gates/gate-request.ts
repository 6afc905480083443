import { z } from "@hono/zod-openapi";
import { repoTypeOfSegment } from "@keyhook/sdk";
import { notFound } from "#core/errors.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";

/** The path up to the action: `/api/models/ada/tides/user-access-request`. */
export const GATE_PATH = "/api/{type}/{owner}/{name}/user-access-request";

export const repoParams = z.object({
  type: z.string().openapi({ param: { name: "type", in: "path" }, description: "models, datasets or spaces" }),
  owner: z.string().openapi({ param: { name: "owner", in: "path" } }),
  name: z.string().openapi({ param: { name: "name", in: "path" } }),
});

/** The user whom a decision is about. */
export const whom = z.object({
  user: z.string().max(200).optional().openapi({ description: "A username; or else `userId`." }),
  userId: z.string().max(200).optional(),
});

/** @throws ServiceError `not_found` for a segment that is not a type */
export function repoNameOf({ type: segment, owner, name }: z.infer<typeof repoParams>): RepoName {
  const type = repoTypeOfSegment(segment);
  if (!type) throw notFound("Repository");
  return { type, owner, name };
}
