import { isId } from "#core/ids.ts";

/** More organizations than anybody asks for at once; what is beyond is a mistake or a flood. */
const MAX_ORG_IDS = 50;

/**
 * Reads the `orgIds` parameter (docs/specification/oauth.md#organizations-in-an-authorization-request): comma-separated, and
 * repeatable, which `joinOrgIds` has made comma-separated before the engine, which refuses repeated parameters, looks at the request.
 * What is no id is left out.
 */
export function parseOrgIds(value: string | undefined): string[] {
  const ids = (value ?? "").split(",").map((part) => part.trim());
  return [...new Set(ids.filter(isId))].slice(0, MAX_ORG_IDS);
}

/** Folds repeated `orgIds` into one. Every other parameter is left as it is, in its place. */
export function joinOrgIds(parameters: URLSearchParams): URLSearchParams {
  const values = parameters.getAll("orgIds");
  if (values.length > 1) parameters.set("orgIds", values.join(","));
  return parameters;
}
