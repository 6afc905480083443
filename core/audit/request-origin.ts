/** Where a request came from, as the outermost door saw it; both null for the operator's command and for timers. */
export type RequestOrigin = { ip: string | null; userAgent: string | null };

/** What has no request behind it: the operator's command, the worker. */
export const noOrigin: RequestOrigin = { ip: null, userAgent: null };
