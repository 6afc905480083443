/** An address as logs may hold it: what follows the `?` may be a key that somebody put there. */
export function loggableAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
