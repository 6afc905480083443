import { requestContext } from "#core/log.ts";

/** Next offers only 200, 404 and redirects. Only the first call has an effect. @param retryAfterSeconds for `Retry-After` */
export function setPageStatus(status: number, retryAfterSeconds?: number): void {
  const context = requestContext.getStore();
  if (!context || context.pageStatus !== undefined) return;
  context.pageStatus = status;
  if (retryAfterSeconds !== undefined) context.pageRetryAfter = retryAfterSeconds;
}

/** Notes that a page or an action has begun, so its errors are faults of the service. */
export function noteBeginning(): void {
  const context = requestContext.getStore();
  if (context) context.hasBegun = true;
}

/** Whether the page is rendered to explain why its action was refused. */
export function isPageRefused(): boolean {
  return (requestContext.getStore()?.pageStatus ?? 200) >= 400;
}
