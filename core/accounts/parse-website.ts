import { invalidRequest } from "../errors.ts";
import { plainText } from "./plain-text.ts";

const WEBSITE_MAX_CHARACTERS = 200;

/** Other schemes would run a script or open programs. Userinfo makes a URL look like another. */
export function parseWebsite(value: unknown, field = "website"): string | null {
  const text = plainText(field, value, WEBSITE_MAX_CHARACTERS).trim();
  if (text === "") return null;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || !url.hostname) {
    throw invalidRequest("Enter a URL that begins with https://.", field);
  }
  return url.href;
}
