/** A URL as logs may contain it: without the query, which may contain a key. */
export function loggableAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
