import { createRoute, z } from "@hono/zod-openapi";
import { deleteCollection } from "#core/hub/collections/delete-collection.ts";
import { findCollection } from "#core/hub/collections/find-collection.ts";
import { readItemsOf } from "#core/hub/collections/read-items.ts";
import { updateCollection } from "#core/hub/collections/update-collection.ts";
import { actorOf, requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withOrWithoutToken, withToken } from "../open-api.ts";
import { collectionJson, collectionSchema } from "./collection-json.ts";

/** The id at the end of `slug` decides; the part before it may be an earlier title or owner. */
export const collectionParams = z.object({ namespace: z.string(), slug: z.string() });
const path = "/api/collections/{namespace}/{slug}" as const;

const read = createRoute({
  method: "get",
  path,
  summary: "Read a collection",
  security: withOrWithoutToken,
  request: { params: collectionParams },
  responses: {
    200: {
      description: "With all items whose repositories the reader may see",
      content: { "application/json": { schema: collectionSchema } },
    },
  },
});

const changes = z.object({
  title: z.string().nullish(),
  description: z.string().nullish(),
  theme: z.string().nullish(),
  private: z.boolean().nullish(),
  position: z.number().nullish().openapi({ description: "Among those of its owner, from 0." }),
});

const update = createRoute({
  method: "patch",
  path,
  summary: "Change a collection",
  security: withToken,
  request: { params: collectionParams, body: { required: true, content: { "application/json": { schema: changes } } } },
  responses: {
    200: {
      description: "The collection",
      content: { "application/json": { schema: z.object({ success: z.literal(true), data: collectionSchema }) } },
    },
  },
});

const remove = createRoute({
  method: "delete",
  path,
  summary: "Delete a collection",
  security: withToken,
  request: { params: collectionParams },
  responses: {
    200: { description: "It is gone", content: { "application/json": { schema: z.object({ success: z.literal(true) }) } } },
  },
});

export const oneCollectionRoutes = openApiRoutes()
  .openapi(read, async (c) => {
    const actor = await actorOf(c);
    const collection = await findCollection(actor, c.req.valid("param").slug);
    return c.json(collectionJson(collection, await readItemsOf(actor, collection.id)), 200);
  })
  .openapi(update, async (c) => {
    const { actor } = await requireToken(c);
    const { private: isPrivate, title, theme, position, description } = c.req.valid("json");
    const collection = await updateCollection(
      actor,
      c.req.valid("param").slug,
      {
        // Existing clients omit fields that they do not want to change, or send null.
        ...(title != null && { title }),
        ...(description != null && { description }),
        ...(theme != null && { theme }),
        ...(isPrivate != null && { isPrivate }),
        ...(position != null && { position }),
      },
      requestOriginOf(c),
    );
    return c.json({ success: true as const, data: collectionJson(collection, await readItemsOf(actor, collection.id)) }, 200);
  })
  .openapi(remove, async (c) => {
    const { actor } = await requireToken(c);
    await deleteCollection(actor, c.req.valid("param").slug, requestOriginOf(c));
    return c.json({ success: true as const }, 200);
  });
