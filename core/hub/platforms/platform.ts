import { displayText } from "../../accounts/display-text.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";

export const PLATFORM_NAME_MAX_CHARACTERS = 60;
export const PLATFORM_SOURCE_MAX_CHARACTERS = 200;
/** Live ones, so that the list is whole. */
export const PLATFORMS_MAX = 100;
/** For how long a token that was replaced works beside the new one. */
export const TOKEN_OVERLAP_HOURS = 24;

/** A system beside us that has proved which one it is. */
export type Platform = { id: string; name: string; source: string };

export const platformTokenPrefix = (): string => `${env().TOKEN_PREFIX}platform_`;

export function parsePlatformName(value: unknown): string {
  return displayText("name", value, { maxCharacters: PLATFORM_NAME_MAX_CHARACTERS });
}

/** What the `source` of a platform's events begins with: an address, or another absolute URI. @throws ServiceError `invalid_request` */
export function parseSource(value: unknown): string {
  const source = plainText("source", value, PLATFORM_SOURCE_MAX_CHARACTERS).trim();
  const isUri = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(source) && URL.canParse(source) && !/[?#]/.test(source);
  if (!isUri) {
    throw new ServiceError("invalid_request", "Give an absolute address, such as https://git.example.com.", { field: "source" });
  }
  return source;
}

/**
 * Whether a platform may speak as `source`: its own prefix, or what goes on behind it. The prefix ends where a part of an address
 * ends, so that `https://git.example` says nothing for `https://git.example.org`.
 */
export function isSourceOf(prefix: string, source: string): boolean {
  if (!source.startsWith(prefix)) return false;
  return source.length === prefix.length || /[/:]$/.test(prefix) || "/:?#".includes(source.charAt(prefix.length));
}
