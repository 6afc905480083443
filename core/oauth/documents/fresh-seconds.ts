/** However short-lived a document says it is: a busy app's users would otherwise have us fetch it for each of them. */
export const FRESH_MIN_SECONDS = 30;
/** However lasting: a changed redirect URI is known after a day at the latest. */
export const FRESH_MAX_SECONDS = 24 * 60 * 60;
/** Where the document says nothing. */
export const FRESH_DEFAULT_SECONDS = 5 * 60;

/** For how long an answer with these headers is taken for current (RFC 9111 §4.2, within a floor and a ceiling; S79). */
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
