import type { Claims } from "./presets.ts";

/**
 * The first claim that is not as it has to be; undefined when all are. Compared is text with a string, character for character, or
 * with a number or a boolean as JSON writes it. What is neither is never equal, and no number that JSON cannot hold exactly: two ids
 * must not become one by rounding.
 */
export function differingClaim(wanted: Claims, token: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(wanted).find((name) => textOfClaim(token, name) !== wanted[name]);
}

/**
 * Whether a token has all that is asked of it: what was set up, and what was recorded with the first use. A publisher that asks for
 * nothing trusts nobody, and not every job of its issuer.
 */
export function isMetBy(
  { claims, pinned }: { claims: Claims; pinned: Claims },
  token: Readonly<Record<string, unknown>>,
): boolean {
  return Object.keys(claims).length > 0 && differingClaim({ ...claims, ...pinned }, token) === undefined;
}

/** A claim as it is compared, undefined when it is absent, no scalar, or text that cannot be kept (a NUL, half of a surrogate pair). */
export function textOfClaim(token: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(token, name) ? token[name] : undefined;
  if (typeof value === "string") return value.includes("\0") || !value.isWellFormed() ? undefined : value;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return JSON.stringify(value);
  return undefined;
}
