/** Describes a token, but never contains it. */
export type AuditToken = {
  type: "personal" | "oauth" | "exchanged" | "ci";
  /** For an OAuth token, this is its Grant's ID, which a refresh does not change. */
  id: string;
  clientId?: string;
  /** For a CI job's token, this is the run. */
  name?: string;
  role?: "read" | "write";
  last4?: string;
};

/** Address and user agent are null for the operator's command and for timers. */
export type RequestOrigin = {
  ip: string | null;
  userAgent: string | null;
  token?: AuditToken;
};

export const noOrigin: RequestOrigin = { ip: null, userAgent: null };
