import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, repoTypes } from "@keyhook/sdk";
import { addItem } from "#core/hub/collections/add-item.ts";
import { readItemsOf } from "#core/hub/collections/read-items.ts";
import { removeItem } from "#core/hub/collections/remove-item.ts";
import { updateItem } from "#core/hub/collections/update-item.ts";
import { requireToken } from "../../actor.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { collectionJson, collectionSchema, itemJson } from "./collection-json.ts";
import { collectionParams } from "./one-collection.ts";

const path = "/api/collections/{namespace}/{slug}/items" as const;
const itemPath = `${path}/{itemId}` as const;
const itemParams = collectionParams.extend({ itemId: z.string() });
const done = z.object({ success: z.literal(true) });

const newItem = z.object({
  item: z.object({
    type: z.enum(repoTypes, `write ${repoTypes.join(", ")}: other things cannot be in a collection here`),
    id: z
      .string()
      .regex(/^[^/]+\/[^/]+$/, "write owner/name")
      .openapi({ description: "`owner/name`" }),
  }),
  note: z.string().nullish(),
});

const add = createRoute({
  method: "post",
  path,
  summary: "Put a repository into a collection",
  security: withToken,
  request: { params: collectionParams, body: { required: true, content: { "application/json": { schema: newItem } } } },
  responses: {
    200: { description: "The collection", content: { "application/json": { schema: collectionSchema } } },
    409: { description: "It is in there already", content: { "application/json": { schema: errorBodySchema } } },
  },
});

const itemChanges = z.object({
  note: z.string().nullish(),
  position: z.number().nullish().openapi({ description: "Among the items, from 0." }),
});

const update = createRoute({
  method: "patch",
  path: itemPath,
  summary: "Change the note or the place of an item",
  security: withToken,
  request: { params: itemParams, body: { required: true, content: { "application/json": { schema: itemChanges } } } },
  responses: {
    200: {
      description: "The item",
      content: { "application/json": { schema: z.object({ success: z.literal(true), data: z.unknown() }) } },
    },
  },
});

const remove = createRoute({
  method: "delete",
  path: itemPath,
  summary: "Take an item out of a collection",
  security: withToken,
  request: { params: itemParams },
  responses: { 200: { description: "It is out", content: { "application/json": { schema: done } } } },
});

export const collectionItemRoutes = openApiRoutes()
  .openapi(add, async (c) => {
    const { actor } = await requireToken(c);
    const { item, note } = c.req.valid("json");
    const [owner = "", name = ""] = item.id.split("/");
    const repo = { type: item.type, owner, name };
    const collection = await addItem(actor, c.req.valid("param").slug, { repo, note: note ?? null });
    return c.json(collectionJson(collection, await readItemsOf(actor, collection.id)), 200);
  })
  .openapi(update, async (c) => {
    const { actor } = await requireToken(c);
    const { slug, itemId } = c.req.valid("param");
    const { note, position } = c.req.valid("json");
    const item = await updateItem(actor, slug, itemId, {
      ...(note != null && { note }),
      ...(position != null && { position }),
    });
    return c.json({ success: true as const, data: itemJson(item) }, 200);
  })
  .openapi(remove, async (c) => {
    const { actor } = await requireToken(c);
    const { slug, itemId } = c.req.valid("param");
    await removeItem(actor, slug, itemId);
    return c.json({ success: true as const }, 200);
  });
