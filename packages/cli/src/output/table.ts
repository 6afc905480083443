/** Wide characters and emoji take two places. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

const segmenter = new Intl.Segmenter();
const characters = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);
const widthOf = (character: string): number => (WIDE.test(character) ? 2 : 1);
export const displayWidth = (text: string): number => characters(text).reduce((sum, one) => sum + widthOf(one), 0);

/**
 * A padded table with capitals for a header. Where it is wider than `width` the widest columns give way, down to their headers.
 * @returns its lines, and whether something was cut
 */
export function table(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): { lines: string[]; isCut: boolean } {
  const titles = headers.map((header) => header.toUpperCase());
  const caps = titles.map((title, at) => Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[at] ?? ""))));
  const least = titles.map((title) => Math.max(displayWidth(title), 4));
  const room = width - 2 * (caps.length - 1);
  for (let over = caps.reduce((sum, one) => sum + one, 0) - room; over > 0; over -= 1) {
    let widest = -1;
    caps.forEach((cap, at) => {
      if (cap > (least[at] ?? 0) && cap > (caps[widest] ?? 0)) widest = at;
    });
    if (widest < 0) break;
    caps[widest] = (caps[widest] ?? 0) - 1;
  }
  let isCut = false;
  const line = (cells: readonly string[]) =>
    caps
      .map((cap, at) => {
        const cell = cells[at] ?? "";
        const shown = cut(cell, cap);
        if (shown !== cell) isCut = true;
        return shown + " ".repeat(Math.max(0, cap - displayWidth(shown)));
      })
      .join("  ")
      .trimEnd();
  return { lines: [titles, ...rows].map(line), isCut };
}

/** Cut between characters, never within one. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let shown = "";
  let used = 0;
  for (const one of characters(text)) {
    used += widthOf(one);
    if (used > width - 1) break;
    shown += one;
  }
  return `${shown}…`;
}
