import { z } from "@hono/zod-openapi";
import { apiSegments, type RepoType, repoTypes } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";

/** `{owner}/{name}` of a URL. */
export const repoParams = z.object({ owner: z.string(), name: z.string() });

/** Each type with its base URL in the API: three URLs of one shape, and nothing else. */
export const repoAddresses = repoTypes.map((type) => ({ type, base: `/api/${apiSegments[type]}` as const }));

/** `type` in a body; none means a model. */
export const typeField = z
  .enum(repoTypes, { error: "choose model, dataset or space; this service has no other types" })
  .nullish()
  .openapi({ description: "A model when left out." });

/**
 * `owner/name`, or just the name of one's own, as clients send it in bodies.
 * @throws ServiceError `invalid_request` with the field
 */
export function parseFullName(text: string, type: RepoType, ownHandle: string, field: string): RepoName {
  const parts = text.split("/");
  const [name, owner = ownHandle] = parts.reverse();
  if (parts.length > 2 || !name || !owner) {
    throw new ServiceError("invalid_request", `${field}: write owner/name.`, { field });
  }
  return { type, owner, name };
}
