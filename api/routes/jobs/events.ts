/**
 * Characters at which clients split lines (U+0085, U+2028 and others) are escaped: for `JSON` they are ordinary letters, for the Python
 * client's line reader they end a line.
 */
export function eventOf(data: unknown, name?: string): string {
  const json = JSON.stringify(data).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${name ? `event: ${name}\n` : ""}data: ${json}\n\n`;
}
