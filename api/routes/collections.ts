import { z } from "@hono/zod-openapi";
import {
  type CollectionItemJson,
  type CollectionJson,
  collectionChangesSchema,
  collectionItemChangesSchema,
  collectionSchema,
  errorBodySchema,
  type ListedCollectionJson,
  listedCollectionSchema,
  newCollectionItemSchema,
  newCollectionSchema,
  repoTypeOfSegment,
} from "@keyhook/sdk";
import type { Actor } from "#core/access/actor.ts";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { env } from "#core/env.ts";
import { invalidRequest } from "#core/errors.ts";
import { createCollection, deleteCollection, updateCollection } from "#core/hub/collections/change-collections.ts";
import { type Collection, type CollectionItem, collectionName, collectionPath } from "#core/hub/collections/collection.ts";
import { findCollection } from "#core/hub/collections/find-collection.ts";
import { addItem, readItemsOf, removeItem, updateItem } from "#core/hub/collections/items.ts";
import { FILTERS_MAX, listCollections } from "#core/hub/collections/list-collections.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { defineRoute, failure, json } from "../define-route.ts";
import { escapedHtml } from "../escaped-html.ts";
import { linkNextPage, pageNumber } from "../next-page.ts";

const oneOrMore = z.union([z.string(), z.array(z.string()).max(FILTERS_MAX)]).optional();
const successSchema = z.object({ success: z.literal(true) });
const success = { success: true } as const;

/** Only the ID at the end of a `slug` identifies the collection. */
export const collectionRoutes = [
  defineRoute("GET /api/collections", {
    operationId: "listCollections",
    action: "collection.read",
    actor: "anyone",
    summary: "List collections",
    query: z.object({
      owner: oneOrMore.openapi({ description: "Only collections of these users or organizations, by handle." }),
      item: oneOrMore.openapi({
        description: "Only collections with one of these items: `models/owner/name`, `datasets/…`, `spaces/…`.",
      }),
      q: z.string().optional().openapi({ description: "Text in the title or the description." }),
      sort: z.enum(["lastModified", "trending", "upvotes"]).optional().openapi({
        description:
          "Accepted but ignored: the service does not count votes or views. Collections are listed by their latest change, or in the owner's order if `owner` has one handle.",
      }),
      limit: z.coerce.number().int().positive().optional(),
      p: pageNumber(),
    }),
    responses: { 200: json("The collections, each with its first four items", z.array(listedCollectionSchema)) },
    async handle({ c, actor, query: { owner, item, q, limit, p } }) {
      const found = await listCollections(actor, {
        ...(owner && { owners: [owner].flat() }),
        ...(item && { containing: [item].flat().flatMap(parseItem) }),
        ...(q && { text: q }),
        ...(limit && { pageSize: limit }),
        page: p,
      });
      if (found.page * found.pageSize < found.total) linkNextPage(c, { p: found.page + 1 });
      return found.items.map((one) => listedCollectionJson(one, one.items, one.total));
    },
  }),

  defineRoute("POST /api/collections", {
    operationId: "createCollection",
    action: "collection.create",
    actor: "user",
    summary: "Create a collection",
    body: newCollectionSchema,
    responses: {
      200: json("The collection", collectionSchema),
      409: json("A collection with this title exists; `slug` identifies it", errorBodySchema.extend({ slug: z.string() })),
    },
    async handle({ c, actor, account, body, origin }) {
      const { title, namespace, description, private: isPrivate, theme } = body;
      const { outcome, collection } = await createCollection(
        actor,
        {
          owner: namespace ?? account.username,
          title,
          description: description ?? null,
          isPrivate: isPrivate ?? false,
          ...(theme && { theme }),
        },
        origin,
      );
      if (outcome === "created") return describeCollection(actor, collection);
      const error = "A collection with this title already exists.";
      const slug = collectionName(collection);
      return c.json({ error, code: "conflict", slug }, 409, { "X-Error-Message": error });
    },
  }),

  defineRoute("GET /api/collections/{namespace}/{slug}", {
    operationId: "getCollection",
    action: "collection.read",
    actor: "anyone",
    summary: "Get a collection",
    responses: { 200: json("The collection, with all items whose repositories the caller may see", collectionSchema) },
    handle: async ({ actor, params }) => describeCollection(actor, await findCollection(actor, params.slug)),
  }),

  defineRoute("PATCH /api/collections/{namespace}/{slug}", {
    operationId: "updateCollection",
    action: "collection.write",
    actor: "token",
    summary: "Update a collection",
    body: collectionChangesSchema,
    responses: { 200: json("The collection", successSchema.extend({ data: collectionSchema })) },
    async handle({ actor, params, body, origin }) {
      const { private: isPrivate, title, theme, position, description } = body;
      // Existing clients omit unchanged fields or send null.
      const changes = {
        ...(title != null && { title }),
        ...(description != null && { description }),
        ...(theme != null && { theme }),
        ...(isPrivate != null && { isPrivate }),
        ...(position != null && { position }),
      };
      const collection = await updateCollection(actor, params.slug, changes, origin);
      return { ...success, data: await describeCollection(actor, collection) };
    },
  }),

  defineRoute("DELETE /api/collections/{namespace}/{slug}", {
    operationId: "deleteCollection",
    action: "collection.write",
    actor: "token",
    summary: "Delete a collection",
    responses: { 200: json("Deleted", successSchema) },
    async handle({ actor, params, origin }) {
      await deleteCollection(actor, params.slug, origin);
      return success;
    },
  }),

  defineRoute("POST /api/collections/{namespace}/{slug}/items", {
    operationId: "addCollectionItem",
    action: "collection.write",
    actor: "token",
    summary: "Add a repository to a collection",
    body: newCollectionItemSchema,
    responses: { 200: json("The collection", collectionSchema), 409: failure("The repository is already in the collection") },
    async handle({ actor, params, body: { item, note } }) {
      const [owner = "", name = ""] = item.id.split("/");
      const repo = { type: item.type, owner, name };
      return describeCollection(actor, await addItem(actor, params.slug, { repo, note: note ?? null }));
    },
  }),

  defineRoute("PATCH /api/collections/{namespace}/{slug}/items/{itemId}", {
    operationId: "updateCollectionItem",
    action: "collection.write",
    actor: "token",
    summary: "Update the note or the position of an item",
    body: collectionItemChangesSchema,
    responses: { 200: json("The item", successSchema.extend({ data: z.unknown() })) },
    async handle({ actor, params: { slug, itemId }, body: { note, position } }) {
      const changes = { ...(note != null && { note }), ...(position != null && { position }) };
      return { ...success, data: itemJson(await updateItem(actor, slug, itemId, changes)) };
    },
  }),

  defineRoute("DELETE /api/collections/{namespace}/{slug}/items/{itemId}", {
    operationId: "deleteCollectionItem",
    action: "collection.write",
    actor: "token",
    summary: "Remove an item from a collection",
    responses: { 200: json("Removed", successSchema) },
    async handle({ actor, params: { slug, itemId } }) {
      await removeItem(actor, slug, itemId);
      return success;
    },
  }),
];

function parseItem(text: string): RepoName[] {
  const [segment = "", owner, name, ...rest] = text.split("/");
  const type = repoTypeOfSegment(segment);
  // Clients may name papers and collections, which no collection here contains.
  if (!type && owner !== undefined) return [{ type: "model", owner: "", name: "" }];
  if (!type || !owner || !name || rest.length > 0) {
    throw invalidRequest("item: write models/owner/name, datasets/owner/name or spaces/owner/name.", "item");
  }
  return [{ type, owner, name }];
}

async function describeCollection(reader: Actor, collection: Collection): Promise<CollectionJson> {
  const items = await readItemsOf(reader, collection.id);
  return { ...listedCollectionJson(collection, items, items.length), position: collection.position };
}

function listedCollectionJson(collection: Collection, items: CollectionItem[], total: number): ListedCollectionJson {
  const { owner, title, description, theme, isPrivate, updatedAt } = collection;
  return {
    slug: collectionName(collection),
    title,
    ...(description && { description }),
    owner: {
      _id: owner.id,
      name: owner.handle,
      fullname: owner.fullName || owner.handle,
      type: owner.kind === "organization" ? "org" : "user",
      avatarUrl: avatarUrl(owner.handle),
    },
    items: items.map(itemJson),
    numberItems: total,
    lastUpdated: updatedAt.toISOString(),
    theme,
    private: isPrivate,
    // This service has no votes, but existing clients read the fields.
    upvotes: 0,
    isUpvotedByUser: false,
    gating: false,
    url: env().ORIGIN + collectionPath(collection),
  };
}

function itemJson({ id, position, note, repo }: CollectionItem): CollectionItemJson {
  return {
    _id: id,
    id: repo.fullName,
    type: repo.type,
    repoType: repo.type,
    position,
    ...(note && { note: { text: note, html: escapedHtml(note) } }),
    author: repo.owner.handle,
    private: repo.isPrivate,
    gated: repo.gated === "none" ? false : repo.gated,
    lastModified: repo.updatedAt.toISOString(),
    likes: repo.likes,
    downloads: 0,
    tags: repo.tags,
  };
}
