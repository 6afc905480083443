/** What a terminal would obey (escape sequences, carriage returns), and what hides text in text, is shown as its code instead. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** A field of a row, on one line. */
export function visible(text: string): string {
  return text.replace(/\s+/g, " ").trim().replace(OBEYED, escaped);
}

/** Text of several lines, such as a log's: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(OBEYED, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

/** JSON of the same value: `JSON.stringify` writes codes for what is below a space alone, and terminals obey more. */
export function visibleJson(value: unknown, indent?: number): string {
  const text: string = JSON.stringify(value, null, indent);
  return text.replace(OBEYED, (character) => (character === "\n" ? character : character.split("").map(codeUnit).join("")));
}

const codeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
