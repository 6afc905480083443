import { isId } from "#core/ids.ts";

const MAX_ORG_IDS = 50;

/** See docs/specification/oauth.md#organizations-in-an-authorization-request. The caller has joined repeated parameters. */
export function parseOrgIds(value: string | undefined): string[] {
  const ids = (value ?? "").split(",").map((part) => part.trim());
  return [...new Set(ids.filter(isId))].slice(0, MAX_ORG_IDS);
}

export function joinOrgIds(parameters: URLSearchParams): URLSearchParams {
  const values = parameters.getAll("orgIds");
  if (values.length > 1) parameters.set("orgIds", values.join(","));
  return parameters;
}
