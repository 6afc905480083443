import { displayText } from "../../accounts/display-text.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { ServiceError } from "../../errors.ts";
import {
  COLLECTION_DESCRIPTION_MAX_CHARACTERS,
  COLLECTION_TITLE_MAX_CHARACTERS,
  ITEM_NOTE_MAX_CHARACTERS,
  type Theme,
  themes,
} from "./collection.ts";

export function parseTitle(value: unknown): string {
  return displayText("title", value, { maxCharacters: COLLECTION_TITLE_MAX_CHARACTERS });
}

export function parseDescription(value: unknown): string | null {
  const options = { maxCharacters: COLLECTION_DESCRIPTION_MAX_CHARACTERS, isRequired: false };
  return displayText("description", value ?? "", options) || null;
}

export function parseTheme(value: unknown): Theme {
  const theme = themes.find((one) => one === value);
  if (!theme) throw new ServiceError("invalid_request", `Choose one of ${themes.join(", ")}.`, { field: "theme" });
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
    throw new ServiceError("invalid_request", "Give a whole number from 0.", { field: "position" });
  }
  return Math.min(value, POSITION_MAX);
}
