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

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
