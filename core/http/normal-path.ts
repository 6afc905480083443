const UNRESERVED = /%(2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/**
 * A path in which unreserved characters are not percent-encoded (RFC 3986 §6.2.2.2). Checks compare paths as they were sent, whereas routers
 * decode them: the two must not see different words in one path (S138).
 */
export const normalPath = (path: string): string => path.replace(UNRESERVED, decodeURIComponent);
