import type { Claims } from "./preset.ts";

/** Rounding must not make two ids equal, so inexact numbers never match. */
export function differingClaim(wanted: Claims, token: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(wanted).find((name) => textOfClaim(token, name) !== wanted[name]);
}

/** A publisher without required claims trusts nobody. */
export function hasRequiredClaims(
  { claims, pinned }: { claims: Claims; pinned: Claims },
  token: Readonly<Record<string, unknown>>,
): boolean {
  return Object.keys(claims).length > 0 && differingClaim({ ...claims, ...pinned }, token) === undefined;
}

export function textOfClaim(token: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(token, name) ? token[name] : undefined;
  if (typeof value === "string") return value.includes("\0") || !value.isWellFormed() ? undefined : value;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return JSON.stringify(value);
  return undefined;
}
