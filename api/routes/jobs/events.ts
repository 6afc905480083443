/**
 * Values that clients split into lines at (U+0085, U+2028 and others) are escaped: to `JSON` they are letters like any other, to the
 * Python client's reader of lines they end one.
 */
export function eventOf(data: unknown, name?: string): string {
  const json = JSON.stringify(data).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${name ? `event: ${name}\n` : ""}data: ${json}\n\n`;
}
