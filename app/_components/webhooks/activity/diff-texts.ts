import { structuredPatch } from "diff";
import type { DiffHunk, DiffLine } from "#core/hub/git/read/diff.ts";

/** A target chooses both texts (S137). The library checks the timeout only between steps, so the length is limited too. */
const LIMITS = { maxEditLength: 500, timeout: 20 };
const TOO_MANY_CHARACTERS = 64 * 1024;
const TOO_MANY_LINES = 2_000;

/** Returns undefined for texts that are too long or have too little in common. */
export function diffTexts(before: string, after: string): DiffHunk[] | undefined {
  if ([before, after].some(isTooLong)) return undefined;
  const patch = structuredPatch("", "", before, after, undefined, undefined, { context: 3, ...LIMITS });
  return patch?.hunks.map(({ oldStart, newStart, lines }) => ({ heading: "", lines: numbered(lines, oldStart, newStart) }));
}

const isTooLong = (text: string): boolean =>
  text.length >= TOO_MANY_CHARACTERS || text.split("\n", TOO_MANY_LINES).length >= TOO_MANY_LINES;

const kinds: Readonly<Record<string, DiffLine["kind"]>> = { " ": "context", "+": "added", "-": "deleted" };

function numbered(lines: readonly string[], oldStart: number, newStart: number): DiffLine[] {
  let [oldNumber, newNumber] = [oldStart, newStart];
  // Skips lines such as "\ No newline at end of file".
  return lines.flatMap((line): DiffLine[] => {
    const kind = kinds[line.charAt(0)];
    if (!kind) return [];
    return [
      {
        kind,
        oldNumber: kind === "added" ? null : oldNumber++,
        newNumber: kind === "deleted" ? null : newNumber++,
        text: line.slice(1),
      },
    ];
  });
}
