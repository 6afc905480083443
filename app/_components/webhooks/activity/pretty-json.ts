/** JSON with its lines indented; null for what is none, or has nothing to indent. Numbers too long for us are left as they came. */
export function prettyJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text) || /[^"\w.]-?\d{16,}/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
