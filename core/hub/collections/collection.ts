import type { Made } from "../../access/rule.ts";
import { displayText, plainText } from "../../accounts/plain-text.ts";
import { invalidRequest } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { ownerColumns, type Repo } from "../repos/repo.ts";

export const COLLECTION_TITLE_MAX_CHARACTERS = 60;
export const COLLECTION_DESCRIPTION_MAX_CHARACTERS = 150;
export const ITEM_NOTE_MAX_CHARACTERS = 500;
/** The maximum number of items in one collection: all of them are read at once. */
export const ITEMS_MAX = 500;
export const COLLECTIONS_MAX_PER_OWNER = 1_000;

/** The colors in which a collection can be drawn. */
export const themes = ["orange", "blue", "green", "purple", "pink", "indigo"] as const;
export type Theme = (typeof themes)[number];

export type Collection = {
  id: string;
  owner: { kind: "user" | "organization"; id: string; handle: string; fullName: string };
  title: string;
  /** The title as written in the URL; the collection is found by the id after it. */
  slug: string;
  description: string | null;
  theme: Theme;
  isPrivate: boolean;
  /** The position among the owner's collections. */
  position: number;
  createdById: string | null;
  createdByClientId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

export type CollectionItem = {
  id: string;
  /** The position among the items that the reader may see: a gap would reveal hidden ones. */
  position: number;
  note: string | null;
  addedAt: Date;
  repo: Repo;
};

/** What core/access needs to know about a collection. */
export function collectionResource({
  owner,
  isPrivate,
  createdById,
  createdByClientId,
}: Pick<Collection, "owner" | "isPrivate" | "createdById" | "createdByClientId">): Made {
  return { ...ownerColumns(owner), isPrivate, createdById, createdByClientId };
}

const SLUG_MAX_CHARACTERS = 60;

/** A title in lower-case Latin letters, digits and hyphens; `collection` if that leaves nothing. */
export function slugOf(title: string): string {
  const slug = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_MAX_CHARACTERS)
    .replace(/^-|-$/g, "");
  return slug || "collection";
}

/** The name of a collection for programs: `owner/slug-id`. */
export function collectionName({ owner, slug, id }: Pick<Collection, "owner" | "slug" | "id">): string {
  return `${owner.handle}/${slug}-${id}`;
}

export const collectionPath = (collection: Pick<Collection, "owner" | "slug" | "id">): string =>
  `/collections/${collectionName(collection)}`;

/** The id at the end of `slug-id`; undefined if it has none. */
export function idInSlug(slug: string): string | undefined {
  const id = slug.slice(-24);
  return isId(id) && (slug.length === 24 || slug.at(-25) === "-") ? id : undefined;
}

export function parseTitle(value: unknown): string {
  return displayText("title", value, { maxCharacters: COLLECTION_TITLE_MAX_CHARACTERS });
}

export function parseDescription(value: unknown): string | null {
  const options = { maxCharacters: COLLECTION_DESCRIPTION_MAX_CHARACTERS, isRequired: false };
  return displayText("description", value ?? "", options) || null;
}

export function parseTheme(value: unknown): Theme {
  const theme = themes.find((one) => one === value);
  if (!theme) throw invalidRequest(`Choose one of ${themes.join(", ")}.`, "theme");
  return theme;
}

/** @returns null for an empty note */
export function parseNote(value: unknown): string | null {
  return plainText("note", value ?? "", ITEM_NOTE_MAX_CHARACTERS).trim() || null;
}

/** More than any list here contains. */
const POSITION_MAX = 100_000;

/** A position in a list, from 0; positions past its end mean its end. */
export function parsePosition(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidRequest("Enter a whole number, 0 or more.", "position");
  }
  return Math.min(value, POSITION_MAX);
}
