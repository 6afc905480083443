import { createRoute, z } from "@hono/zod-openapi";
import { repoTypeOfSegment } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { ServiceError } from "#core/errors.ts";
import { FILTERS_MAX, type ListedCollection, listCollections } from "#core/hub/collections/list-collections.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";
import { listedCollectionJson, listedCollectionSchema } from "./collection-json.ts";

const oneOrMore = z.union([z.string(), z.array(z.string()).max(FILTERS_MAX)]).optional();
const number = z.coerce.number().int().positive().optional();

const query = z.object({
  owner: oneOrMore.openapi({ description: "Handles of users or organizations: those of any of them." }),
  item: oneOrMore.openapi({ description: "`models/owner/name`, `datasets/…`, `spaces/…`: those that have any of them in them." }),
  q: z.string().optional().openapi({ description: "A part of the title or the description." }),
  sort: z
    .enum(["lastModified", "trending", "upvotes"])
    .optional()
    .openapi({ description: "Nothing is counted here, so that each is by the latest change; one owner's as they put them." }),
  limit: number,
  p: number.openapi({ description: "The page, from 1; the header `Link` names the next one." }),
});

const route = createRoute({
  method: "get",
  path: "/api/collections",
  summary: "List collections",
  security: withOrWithoutToken,
  request: { query },
  responses: {
    200: {
      description: "Each with its first four items",
      content: { "application/json": { schema: z.array(listedCollectionSchema) } },
    },
  },
});

export const listCollectionsRoute = openApiRoutes().openapi(route, async (c) => {
  const actor = await actorOf(c);
  const { owner, item, q, limit, p } = c.req.valid("query");
  const found = await listCollections(actor, {
    ...(owner && { owners: [owner].flat() }),
    ...(item && { containing: [item].flat().flatMap(parseItem) }),
    ...(q && { text: q }),
    ...(limit && { pageSize: limit }),
    ...(p && { page: p }),
  });
  if (found.page * found.pageSize < found.total) {
    const next = new URL(c.req.url);
    next.searchParams.set("p", String(found.page + 1));
    c.header("Link", `<${env().ORIGIN}${next.pathname}${next.search}>; rel="next"`);
  }
  return c.json(
    found.items.map((one: ListedCollection) => listedCollectionJson(one, one.items, one.total)),
    200,
  );
});

/** @throws ServiceError `invalid_request` if it does not name an item */
function parseItem(text: string): RepoName[] {
  const [segment = "", owner, name, ...rest] = text.split("/");
  const type = repoTypeOfSegment(segment);
  // The public hub can filter by papers and collections; here no collection has them.
  if (!type && owner !== undefined) return [{ type: "model", owner: "", name: "" }];
  if (!type || !owner || !name || rest.length > 0) {
    throw new ServiceError("invalid_request", "item: write models/owner/name, datasets/owner/name or spaces/owner/name.", {
      field: "item",
    });
  }
  return [{ type, owner, name }];
}
