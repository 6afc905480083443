const UNRESERVED = /%(2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/** RFC 3986 §6.2.2.2. Checks compare paths as sent, and routers decode them: both must see the same words (S138). */
export const normalPath = (path: string): string => path.replace(UNRESERVED, decodeURIComponent);
