import type { Attempt } from "#core/webhooks/activity/list-attempts.ts";

/** The longest indented text in UTF-16 units. Indentation grows with the square of the depth, which the target chooses (S137). */
const INDENTED_MAX = 256 * 1024;

/** A page contains each text several times, and each character may become six (S137). */
const SHOWN_MAX_CHARACTERS = 256 * 1024;

/** `json` is what `prettyJson` returns for the response's body. */
export type ShownAttempt = Attempt & { json: string | null; isShown: boolean };

export function shownAttempts(attempts: readonly Attempt[]): ShownAttempt[] {
  let left = SHOWN_MAX_CHARACTERS;
  return attempts.map((attempt) => {
    const text = attempt.response?.body.text ?? "";
    const json = prettyJson(text);
    left -= (json ?? text).length;
    return { ...attempt, json, isShown: left >= 0 };
  });
}

/**
 * Returns null for text that is not JSON, has nothing to indent, or would become too long. Returns null for numbers of 16 or more
 * digits too, because JavaScript might change them.
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
