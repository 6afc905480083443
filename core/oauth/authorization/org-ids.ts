import { isId } from "#core/ids.ts";

const MAX_ORG_IDS = 50;

/** See docs/specification/oauth.md#organizations-in-an-authorization-request. Repeated parameters are already joined. */
export function parseOrgIds(value: string | undefined): string[] {
  const ids = (value ?? "").split(",").map((part) => part.trim());
  return [...new Set(ids.filter(isId))].slice(0, MAX_ORG_IDS);
}

/** Joins repeated `orgIds` into one parameter. All other parameters keep their positions. */
export function joinOrgIds(parameters: URLSearchParams): URLSearchParams {
  const values = parameters.getAll("orgIds");
  if (values.length > 1) parameters.set("orgIds", values.join(","));
  return parameters;
}
