/** A value as one word of a shell command that people copy: in quotation marks if it needs them, since others may have chosen it. */
export function shellWord(value: string): string {
  return /^[\w./@-]+$/.test(value) ? value : inQuotationMarks(value);
}

export function inQuotationMarks(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
