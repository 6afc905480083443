import type { Claims } from "./preset.ts";

/**
 * The first claim that differs from what is required; undefined if all match. Strings are compared character by character, with
 * numbers and booleans in their JSON form. Other types never match, nor do numbers that JSON cannot represent exactly: rounding
 * must not make two ids equal.
 */
export function differingClaim(wanted: Claims, token: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(wanted).find((name) => textOfClaim(token, name) !== wanted[name]);
}

/**
 * Whether a token has all configured and pinned claims. A publisher without required claims trusts nobody, rather than all jobs
 * of its issuer.
 */
export function hasRequiredClaims(
  { claims, pinned }: { claims: Claims; pinned: Claims },
  token: Readonly<Record<string, unknown>>,
): boolean {
  return Object.keys(claims).length > 0 && differingClaim({ ...claims, ...pinned }, token) === undefined;
}

/** A claim for comparison; undefined if it is absent, not a scalar, or cannot be stored (a NUL, half of a surrogate pair). */
export function textOfClaim(token: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(token, name) ? token[name] : undefined;
  if (typeof value === "string") return value.includes("\0") || !value.isWellFormed() ? undefined : value;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return JSON.stringify(value);
  return undefined;
}
