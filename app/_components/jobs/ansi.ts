type Styled = { text: string; style: string };

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: the patterns match control characters */
/** SGR (ECMA-48 8.3.117) sets the style of the text that follows. */
const SGR = /\u001b\[([0-9;:]*)m/g;
/** Other control sequences, such as cursor movement, window titles and links, have no meaning in a page. */
const OTHER =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[P^_X][^\u001b]*(?:\u001b\\|$)|[ -/]*[0-~])|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: until here */

const colors: Readonly<Record<number, string>> = {
  1: "text-bad",
  2: "text-good",
  3: "text-warn",
  4: "text-code-name",
  5: "text-code-keyword",
  6: "text-code-string",
};

type Pen = { color: string; isBold: boolean; isDim: boolean; isUnderlined: boolean };
const plain: Pen = { color: "", isBold: false, isDim: false, isUnderlined: false };

/** Omits text that a terminal would overwrite after a carriage return. */
export function styledLine(line: string): Styled[] {
  // The pattern tries each run of carriage returns only once (S137).
  const text = line.replace(/(?<!\r)\r+$/, "");
  const shown = text.slice(text.lastIndexOf("\r") + 1);
  const found: Styled[] = [];
  let pen = plain;
  let from = 0;
  const add = (text: string) => {
    const clean = text.replace(OTHER, "");
    if (clean) found.push({ text: clean, style: styleOf(pen) });
  };
  for (const match of shown.matchAll(SGR)) {
    add(shown.slice(from, match.index));
    pen = applyCodes(pen, (match[1] ?? "").split(/[;:]/).map(Number));
    from = match.index + match[0].length;
  }
  add(shown.slice(from));
  return found;
}

export const plainLine = (line: string): string =>
  styledLine(line)
    .map(({ text }) => text)
    .join("");

function applyCodes(pen: Pen, codes: readonly number[]): Pen {
  let now = pen;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) now = plain;
    else if (code === 1) now = { ...now, isBold: true };
    else if (code === 2) now = { ...now, isDim: true };
    else if (code === 4) now = { ...now, isUnderlined: true };
    else if (code === 22) now = { ...now, isBold: false, isDim: false };
    else if (code === 24) now = { ...now, isUnderlined: false };
    else if (code === 39 || (code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      now = { ...now, color: code === 90 ? "text-muted" : (colors[code % 10] ?? "") };
    // Skips a color of a larger palette, because the page has no equivalent.
    else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4;
  }
  return now;
}

function styleOf({ color, isBold, isDim, isUnderlined }: Pen): string {
  return [color, isBold && "font-semibold", isDim && !color && "text-muted", isUnderlined && "underline"]
    .filter(Boolean)
    .join(" ");
}
