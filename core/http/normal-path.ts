const UNRESERVED = /%(2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/** RFC 3986 §6.2.2.2. Checks and routers must see the same words in a path (S138). */
export const normalPath = (path: string): string => path.replace(UNRESERVED, decodeURIComponent);
