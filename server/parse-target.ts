/** The path and query of a request line. */
export type Target = { pathname: string; search: string };

/**
 * Parses the target of a request line, in origin form or in the absolute form that proxies may send. Undefined for what is invalid here:
 * another form, a path that is not UTF-8 when decoded, a NUL, or a segment `.` or `..` (S51, S138). Clients resolve those; Next does too,
 * and would show a page that no door has checked.
 */
export function parseTarget(url: string | undefined): Target | undefined {
  if (!url) return undefined;
  const local = url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/^(?=\?|$)/, "/");
  if (!local.startsWith("/") || /%00|\0|#/.test(local)) return undefined;
  const query = local.indexOf("?");
  const pathname = query < 0 ? local : local.slice(0, query);
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(pathname)) return undefined;
  try {
    decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  return { pathname, search: query < 0 ? "" : local.slice(query) };
}
