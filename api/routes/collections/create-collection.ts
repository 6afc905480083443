import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import { collectionName } from "#core/hub/collections/collection.ts";
import { createCollection } from "#core/hub/collections/create-collection.ts";
import { readItemsOf } from "#core/hub/collections/read-items.ts";
import { requirePersonsToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { collectionJson, collectionSchema } from "./collection-json.ts";

const body = z.object({
  title: z.string(),
  namespace: z.string().nullish().openapi({ description: "Whose it is to be; the token's person, unless given." }),
  description: z.string().nullish(),
  private: z.boolean().nullish(),
  theme: z.string().nullish(),
});

const route = createRoute({
  method: "post",
  path: "/api/collections",
  summary: "Create a collection",
  security: withToken,
  request: { body: { required: true, content: { "application/json": { schema: body } } } },
  responses: {
    200: { description: "The collection", content: { "application/json": { schema: collectionSchema } } },
    409: {
      description: "There is one of this title: `slug` says which, so that whoever asked can go on with it",
      content: { "application/json": { schema: errorBodySchema.extend({ slug: z.string() }) } },
    },
  },
});

export const createCollectionRoute = openApiRoutes().openapi(route, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  const { title, namespace, description, private: isPrivate, theme } = c.req.valid("json");
  const { outcome, collection } = await createCollection(
    actor,
    {
      owner: namespace ?? account.username,
      title,
      description: description ?? null,
      isPrivate: isPrivate ?? false,
      ...(theme && { theme }),
    },
    requestOriginOf(c),
  );
  if (outcome === "exists") {
    const error = "There is a collection of this title already.";
    const slug = collectionName(collection);
    return c.json({ error, error_description: error, code: "conflict", slug }, 409, { "X-Error-Message": error });
  }
  return c.json(collectionJson(collection, await readItemsOf(actor, collection.id)), 200);
});
