import type { Attempt } from "#core/webhooks/activity/list-attempts.ts";

/**
 * The maximum length of an indented text, in UTF-16 units. Indentation grows with the square of the depth, which the target chooses (S137).
 */
const INDENTED_MAX = 256 * 1024;

/** An attempt, and its response's body as `prettyJson` returns it: computed once, because it is used for two comparisons. */
export type ShownAttempt = Attempt & { json: string | null };

/**
 * Indented JSON; null for text that is not JSON, has nothing to indent, or would become too long. JSON with a number of 16 digits or more
 * is not indented, because JavaScript might change the number.
 */
export function prettyJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text) || /[^"\w.]-?\d{16,}/.test(text)) return null;
  try {
    const value = JSON.parse(text);
    return indentedLength(text) > INDENTED_MAX ? null : JSON.stringify(value, null, 2);
  } catch {
    return null;
  }
}

/** The length of valid JSON after indentation, if numbers and strings keep their form. */
function indentedLength(json: string): number {
  let [length, depth] = [0, 0];
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\[\s*\]|\{\s*\}|[^\s"]/g)) {
    if (token === "[" || token === "{") length += 2 + 2 * ++depth;
    else if (token === "]" || token === "}") length += 2 + 2 * --depth;
    else if (token === ",") length += 2 + 2 * depth;
    else length += token === ":" ? 2 : token.length;
  }
  return length;
}
