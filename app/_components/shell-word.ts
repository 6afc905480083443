/** Quotes the value if necessary, because others may have chosen it. */
export function shellWord(value: string): string {
  return /^[\w./@-]+$/.test(value) ? value : inQuotationMarks(value);
}

export function inQuotationMarks(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
