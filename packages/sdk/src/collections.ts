import { z } from "zod";
import { repoTypes } from "./repos.ts";

export const collectionItemSchema = z.object({
  _id: z.string().meta({ description: "The item's id; `id` is the repository's name." }),
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
export type CollectionItemJson = z.infer<typeof collectionItemSchema>;

/**
 * A collection in a list. It has no `position`, because existing clients add their own and fail if there is one already.
 * @group Collections
 */
export const listedCollectionSchema = z.object({
  slug: z.string().meta({ description: "`owner/slug-id`, as in URLs." }),
  title: z.string(),
  description: z.string().optional(),
  owner: z.object({ _id: z.string(), name: z.string(), fullname: z.string(), type: z.string(), avatarUrl: z.string() }),
  items: z.array(collectionItemSchema),
  numberItems: z.number(),
  lastUpdated: z.string(),
  theme: z.string(),
  private: z.boolean(),
  upvotes: z.number(),
  isUpvotedByUser: z.boolean(),
  gating: z.boolean(),
  url: z.string(),
});
export type ListedCollectionJson = z.infer<typeof listedCollectionSchema>;

export const collectionSchema = listedCollectionSchema.extend({ position: z.number() });
export type CollectionJson = z.infer<typeof collectionSchema>;

export const newCollectionSchema = z.object({
  title: z.string(),
  namespace: z.string().nullish().meta({ description: "The owner's handle. Default: the token's user." }),
  description: z.string().nullish(),
  private: z.boolean().nullish(),
  theme: z.string().nullish(),
});

/** Changes of a collection. Absent fields keep their values. @group Collections */
export const collectionChangesSchema = z.object({
  title: z.string().nullish(),
  description: z.string().nullish(),
  theme: z.string().nullish(),
  private: z.boolean().nullish(),
  position: z.number().nullish().meta({ description: "The position among the owner's collections, from 0." }),
});

export const newCollectionItemSchema = z.object({
  item: z.object({
    type: z.enum(repoTypes, `write ${repoTypes.join(", ")}: other things cannot be in a collection here`),
    id: z
      .string()
      .regex(/^[^/]+\/[^/]+$/, "use owner/name")
      .meta({ description: "`owner/name`" }),
  }),
  note: z.string().nullish(),
});

export const collectionItemChangesSchema = z.object({
  note: z.string().nullish(),
  position: z.number().nullish().meta({ description: "The position among the items, from 0." }),
});
