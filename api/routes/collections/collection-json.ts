import { z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { env } from "#core/env.ts";
import type { Collection, CollectionItem } from "#core/hub/collections/collection.ts";
import { collectionName, collectionPath } from "#core/hub/collections/collection.ts";

const itemSchema = z.object({
  _id: z.string().openapi({ description: "Of the item; `id` is the repository's name." }),
  id: z.string(),
  type: z.string(),
  repoType: z.string(),
  position: z.number(),
  note: z.object({ text: z.string(), html: z.string() }).optional(),
  author: z.string(),
  private: z.boolean(),
  gated: z.union([z.boolean(), z.string()]),
  lastModified: z.string(),
  likes: z.number(),
  downloads: z.number(),
  tags: z.array(z.string()),
});

/** In lists without `position`: existing clients number the items themselves, and fail on a second one. */
export const listedCollectionSchema = z.object({
  slug: z.string().openapi({ description: "`owner/slug-id`, as it stands in addresses." }),
  title: z.string(),
  description: z.string().optional(),
  owner: z.object({ _id: z.string(), name: z.string(), fullname: z.string(), type: z.string(), avatarUrl: z.string() }),
  items: z.array(itemSchema),
  numberItems: z.number(),
  lastUpdated: z.string(),
  theme: z.string(),
  private: z.boolean(),
  upvotes: z.number(),
  isUpvotedByUser: z.boolean(),
  gating: z.boolean(),
  url: z.string(),
});

export const collectionSchema = listedCollectionSchema.extend({ position: z.number() });

export type ListedCollectionJson = z.infer<typeof listedCollectionSchema>;

export function listedCollectionJson(collection: Collection, items: CollectionItem[], total: number): ListedCollectionJson {
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
    // There are no votes here; existing clients read the fields.
    upvotes: 0,
    isUpvotedByUser: false,
    gating: false,
    url: env().ORIGIN + collectionPath(collection),
  };
}

export function collectionJson(collection: Collection, items: CollectionItem[]): z.infer<typeof collectionSchema> {
  return { ...listedCollectionJson(collection, items, items.length), position: collection.position };
}

export function itemJson({ id, position, note, repo }: CollectionItem): z.infer<typeof itemSchema> {
  return {
    _id: id,
    id: repo.fullName,
    type: repo.type,
    repoType: repo.type,
    position,
    ...(note && { note: { text: note, html: escaped(note) } }),
    author: repo.owner.handle,
    private: repo.isPrivate,
    gated: repo.gated === "none" ? false : repo.gated,
    lastModified: repo.updatedAt.toISOString(),
    likes: 0,
    downloads: 0,
    tags: repo.tags,
  };
}

/** A note is plain text, whatever it looks like. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("\n", "<br>");
