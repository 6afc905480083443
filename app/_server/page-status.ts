import { requestContext } from "#core/log.ts";

/**
 * Says what the HTTP status of the page being drawn is; Next offers only 200, 404 and redirects. server/protect-response.ts
 * writes it into the head of the answer. The first word counts: an action that was refused says why before the page around it
 * is drawn.
 * @param retryAfterSeconds of a 429 or a 503, for `Retry-After`
 */
export function setPageStatus(status: number, retryAfterSeconds?: number): void {
  const context = requestContext.getStore();
  if (!context || context.pageStatus !== undefined) return;
  context.pageStatus = status;
  if (retryAfterSeconds !== undefined) context.pageRetryAfter = retryAfterSeconds;
}

/** Whether the page is drawn to explain why its action was refused. */
export function isPageRefused(): boolean {
  return (requestContext.getStore()?.pageStatus ?? 200) >= 400;
}
