/** RFC 1035 §2.3.4, in ASCII and without the final dot. */
export const HOST_NAME_MAX = 253;

/** The URL parser takes quadratic time for a host name that is not ASCII, and would accept 5,000 characters (S138). */
export function hasLongHost(url: string): boolean {
  // The parser ignores these characters everywhere.
  return LONG_HOST.test(url.replace(/[\t\n\r]/g, ""));
}

/** For other schemes, the parser takes linear time. */
const LONG_HOST = /^[\0- ]*(https?|wss?|ftp|file):[/\\]*[^/\\?#]{501}/i;
