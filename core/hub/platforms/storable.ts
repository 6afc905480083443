const DEPTH_MAX = 20;

/**
 * What in a JSON value from outside Postgres cannot hold or programs trip over: NUL, half a surrogate pair, nesting beyond reason
 * (S51). It walks without recursion, since the nesting is the sender's choice.
 * @returns a sentence with the path, such as `discussion.title`; undefined when there is nothing
 */
export function unstorable(value: unknown): string | undefined {
  const open: { value: unknown; path: string; depth: number }[] = [{ value, path: "", depth: 0 }];
  for (let at = open.pop(); at; at = open.pop()) {
    if (typeof at.value === "string" && !isStorable(at.value)) return `${at.path}: contains characters that are not valid text.`;
    if (typeof at.value !== "object" || at.value === null) continue;
    if (at.depth >= DEPTH_MAX) return `${at.path}: is nested too deeply.`;
    for (const [key, inner] of Object.entries(at.value)) {
      if (!isStorable(key)) return `${at.path}: has a name that is not valid text.`;
      open.push({ value: inner, path: at.path ? `${at.path}.${key}` : key, depth: at.depth + 1 });
    }
  }
  return undefined;
}

const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
