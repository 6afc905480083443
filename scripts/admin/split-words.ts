/** Several values in one argument, separated by spaces as OAuth writes scopes. */
export function splitWords(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
