import type { Claims } from "./preset.ts";

/** Inexact numbers never match, because rounding must not make two IDs equal. */
export function differingClaim(wanted: Claims, token: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(wanted).find(
    (name) =>
      isAmbiguous(token, name) || missingBeside(wanted, token, name) !== undefined || textOfClaim(token, name) !== wanted[name],
  );
}

/** Returns the claim without which a ref may be a tag (GitLab) or a fork's (CircleCI). Earlier versions did not require it. */
export function missingBeside(wanted: Claims, token: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const isShort = name === "ref" && !wanted.ref?.startsWith("refs/") && Object.hasOwn(token, "ref_type");
  const beside = name === "oidc.circleci.com/vcs-ref" ? "oidc.circleci.com/vcs-origin" : isShort ? "ref_type" : undefined;
  return beside === undefined || Object.hasOwn(wanted, beside) ? undefined : beside;
}

/**
 * In a merge request's pipeline, these claims name the source branch. That branch may be a fork's, and the code that runs may
 * include a target branch that anybody can fill. A child pipeline may belong to such a pipeline.
 */
export const isAmbiguous = (token: Readonly<Record<string, unknown>>, name: string): boolean =>
  ["ref", "ref_path", "ci_config_ref_uri", "sub"].includes(name) &&
  ["merge_request_event", "parent_pipeline"].includes(String(token.pipeline_source));

/** A publisher without required claims trusts no token. */
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
