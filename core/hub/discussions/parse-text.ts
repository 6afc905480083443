import { displayText } from "../../accounts/display-text.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { ServiceError } from "../../errors.ts";

export const TITLE_MAX_CHARACTERS = 200;
export const COMMENT_MAX_BYTES = 64 * 1024;

/** @throws ServiceError `invalid_request` with the field `title` */
export function parseTitle(value: unknown): string {
  return displayText("title", value, { maxCharacters: TITLE_MAX_CHARACTERS });
}

/**
 * Markdown, unchanged except for line breaks, which become uniform.
 * @throws ServiceError `invalid_request` with the field
 */
export function parseComment(value: unknown, field = "comment"): string {
  const text = parseDescription(value, field);
  if (text === "") throw new ServiceError("invalid_request", "Write something first.", { field });
  return text;
}

/** The same for optional text, which may be empty. */
export function parseDescription(value: unknown, field = "description"): string {
  const text = plainText(field, value ?? "", COMMENT_MAX_BYTES)
    .replace(/\r\n?/g, "\n")
    .trim();
  if (Buffer.byteLength(text) > COMMENT_MAX_BYTES) {
    throw new ServiceError("invalid_request", `Shorten this to at most ${COMMENT_MAX_BYTES / 1024} KiB.`, { field });
  }
  return text;
}
