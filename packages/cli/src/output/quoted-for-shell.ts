/** A word of a command that is shown to be copied: whatever somebody else has put into it, it stays one word. */
export const quotedForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
