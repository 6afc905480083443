/** @returns null for `//host`, `/\host`, control characters and URLs (open redirector, RFC 9700 §4.11) */
export function localPath(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 8_000) return null;
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(value) ? value : null;
}
