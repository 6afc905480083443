/** The token that a request came with, as its holder and their administrators may know it again; never the token itself. */
export type AuditToken = {
  /** A person's own, one that an app got, one that an app exchanged for, or one of a job of continuous integration. */
  type: "personal" | "oauth" | "exchanged" | "ci";
  /** A personal or CI token's id; of an OAuth token that of its Grant, which what it is renewed into shares. */
  id: string;
  /** The OAuth client that it was issued to; absent for a person's own and a job's. */
  clientId?: string;
  /** The name that its owner gave it; of a job's, which run it was. */
  name?: string;
  /** What it may do at most. */
  role?: "read" | "write";
  last4?: string;
};

/** Where a request came from, as the outermost door saw it; both null for the operator's command and for timers. */
export type RequestOrigin = {
  ip: string | null;
  userAgent: string | null;
  /** Absent where it came without one. */
  token?: AuditToken;
};

/** What has no request behind it: the operator's command, the worker. */
export const noOrigin: RequestOrigin = { ip: null, userAgent: null };
