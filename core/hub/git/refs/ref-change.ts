/** A change of one ref: full names (`refs/heads/main`), 40 hex digits; null = the ref does not exist before, or after. */
export type RefChange = { ref: string; oldSha: string | null; newSha: string | null };
