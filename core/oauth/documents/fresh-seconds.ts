/** The minimum, whatever a document's headers say: otherwise we would fetch a busy app's document for each of its users. */
export const FRESH_MIN_SECONDS = 30;
/** The maximum: a changed redirect URI is known after a day at the latest. */
export const FRESH_MAX_SECONDS = 24 * 60 * 60;
/** If the headers say nothing. */
export const FRESH_DEFAULT_SECONDS = 5 * 60;

/** How long a response with these headers is fresh (RFC 9111 §4.2, within a minimum and a maximum; S79). */
export function freshSeconds(headers: Record<string, string>): number {
  const directives = (headers["cache-control"] ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  if (directives.some((each) => /^(?:no-store|no-cache)(?:=|$)/.test(each))) return FRESH_MIN_SECONDS;
  const [, maxAge] = directives.map((each) => /^max-age="?(\d{1,10})"?$/.exec(each)).find(Boolean) ?? [];
  if (maxAge === undefined) return FRESH_DEFAULT_SECONDS;
  const age = /^\d{1,10}$/.test(headers.age ?? "") ? Number(headers.age) : 0;
  return Math.min(FRESH_MAX_SECONDS, Math.max(FRESH_MIN_SECONDS, Number(maxAge) - age));
}
