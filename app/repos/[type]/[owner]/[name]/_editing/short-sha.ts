/** A commit as people write it. */
export const shortSha = (sha: string): string => sha.slice(0, 8);
