import { isId } from "#core/ids.ts";

/** The maximum number of organizations. A longer list is a mistake or an attack. */
const MAX_ORG_IDS = 50;

/**
 * Reads the `orgIds` parameter (docs/specification/oauth.md#organizations-in-an-authorization-request): comma-separated and repeatable. The
 * engine refuses repeated parameters, so `joinOrgIds` has already joined them. Invalid IDs are left out.
 */
export function parseOrgIds(value: string | undefined): string[] {
  const ids = (value ?? "").split(",").map((part) => part.trim());
  return [...new Set(ids.filter(isId))].slice(0, MAX_ORG_IDS);
}

/** Joins repeated `orgIds` into one. All other parameters stay unchanged, in their positions. */
export function joinOrgIds(parameters: URLSearchParams): URLSearchParams {
  const values = parameters.getAll("orgIds");
  if (values.length > 1) parameters.set("orgIds", values.join(","));
  return parameters;
}
