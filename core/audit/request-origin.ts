/** The token of a request, described so that its holder and their administrators recognize it; never the token itself. */
export type AuditToken = {
  /** A personal access token, an app's token, an exchanged token, or a CI job's. */
  type: "personal" | "oauth" | "exchanged" | "ci";
  /** The ID of a personal or CI token; for an OAuth token its Grant's ID, which stays the same when the token is refreshed. */
  id: string;
  /** The OAuth client that got the token; absent for personal and CI tokens. */
  clientId?: string;
  /** The name that its owner gave it; for a CI job's token, the run. */
  name?: string;
  /** The highest role that it may use. */
  role?: "read" | "write";
  last4?: string;
};

/** Where a request came from, as seen by the outermost door; address and user agent are null for the operator's command and for timers. */
export type RequestOrigin = {
  ip: string | null;
  userAgent: string | null;
  /** Absent if the request had none. */
  token?: AuditToken;
};

/** For changes that no request causes: by the operator's command or the worker. */
export const noOrigin: RequestOrigin = { ip: null, userAgent: null };
