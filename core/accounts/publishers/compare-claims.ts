import type { Claims } from "./presets.ts";

/**
 * The first claim that is not as it has to be; undefined when all are. Compared is text with a string, character for character, or
 * with a number or a boolean as JSON writes it. What is neither is never equal, and no number that JSON cannot hold exactly: two ids
 * must not become one by rounding.
 */
export function differingClaim(wanted: Claims, token: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(wanted).find((name) => textOfClaim(token, name) !== wanted[name]);
}

/** A claim as it is compared, undefined when it is absent or no scalar. */
export function textOfClaim(token: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(token, name) ? token[name] : undefined;
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return JSON.stringify(value);
  return undefined;
}
