import type { Made } from "../../access/rule.ts";
import { displayText, plainText } from "../../accounts/plain-text.ts";
import { invalidRequest } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { ownerColumns, type Repo } from "../repos/repo.ts";

export const COLLECTION_TITLE_MAX_CHARACTERS = 60;
export const COLLECTION_DESCRIPTION_MAX_CHARACTERS = 150;
export const ITEM_NOTE_MAX_CHARACTERS = 500;
export const ITEMS_MAX = 500;
export const COLLECTIONS_MAX_PER_OWNER = 1_000;

export const themes = ["orange", "blue", "green", "purple", "pink", "indigo"] as const;
export type Theme = (typeof themes)[number];

export type Collection = {
  id: string;
  owner: { kind: "user" | "organization"; id: string; handle: string; fullName: string };
  title: string;
  /** The last part of the collection's URL. The ID at its end finds the collection. */
  slug: string;
  description: string | null;
  theme: Theme;
  isPrivate: boolean;
  position: number;
  createdById: string | null;
  createdByClientId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

export type CollectionItem = {
  id: string;
  /** Counts only items that the reader may see, because a gap would reveal hidden items. */
  position: number;
  note: string | null;
  addedAt: Date;
  repo: Repo;
};

export function collectionResource({
  owner,
  isPrivate,
  createdById,
  createdByClientId,
}: Pick<Collection, "owner" | "isPrivate" | "createdById" | "createdByClientId">): Made {
  return { ...ownerColumns(owner), isPrivate, createdById, createdByClientId };
}

const SLUG_MAX_CHARACTERS = 60;

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

export function collectionName({ owner, slug, id }: Pick<Collection, "owner" | "slug" | "id">): string {
  return `${owner.handle}/${slug}-${id}`;
}

export const collectionPath = (collection: Pick<Collection, "owner" | "slug" | "id">): string =>
  `/collections/${collectionName(collection)}`;

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

export function parseNote(value: unknown): string | null {
  return plainText("note", value ?? "", ITEM_NOTE_MAX_CHARACTERS).trim() || null;
}

const POSITION_MAX = 100_000;

export function parsePosition(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidRequest("Enter a whole number, 0 or more.", "position");
  }
  return Math.min(value, POSITION_MAX);
}
