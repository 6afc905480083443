import { invalidRequest } from "../errors.ts";

/** Refuses what Postgres cannot store (S51), and U+FFFD, which decoders put in place of invalid UTF-8. */
export function plainText(field: string, value: unknown, maxCharacters = 10_000): string {
  if (typeof value !== "string") throw invalidRequest("This must be text.", field);
  if (value.length > maxCharacters)
    throw invalidRequest(`Shorten this to at most ${maxCharacters.toLocaleString("en")} characters.`, field);
  if (value.includes("\0") || value.includes("\u{fffd}") || !value.isWellFormed()) {
    throw invalidRequest("This contains characters that are not valid text.", field);
  }
  return value;
}

// A name must look like what it is (S28). U+200C and U+200D are allowed, because Persian, Indic scripts and emoji use them.
const DECEPTIVE =
  /[\p{Cc}\u{ad}\u{61c}\u{115f}\u{1160}\u{180e}\u{200b}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{2800}\u{3164}\u{feff}\u{ffa0}\u{e0000}-\u{e007f}]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

type Limits = { maxCharacters: number; isRequired?: boolean };

export function displayText(field: string, value: unknown, { maxCharacters, isRequired = true }: Limits): string {
  const cleaned = plainText(field, value, maxCharacters * 4)
    .normalize("NFC")
    .replace(/\s/gu, " ")
    .replace(DECEPTIVE, "")
    .replace(/ +/g, " ")
    .trim();
  const text = VISIBLE.test(cleaned) ? cleaned : "";
  if (isRequired && text === "") throw invalidRequest("Fill this in.", field);
  if ([...text].length > maxCharacters)
    throw invalidRequest(`Shorten this to at most ${maxCharacters.toLocaleString("en")} characters.`, field);
  return text;
}
