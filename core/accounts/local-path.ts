/**
 * A path of our own to return to; null for anything that could lead elsewhere: `//host`, `/\host`, control characters that
 * browsers drop, or a whole URL (open redirector, RFC 9700 §4.11).
 */
export function localPath(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 8_000) return null;
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(value) ? value : null;
}
