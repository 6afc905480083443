import type { Instrumentation } from "next";
import { isDatabaseDown } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { requestContext } from "#core/log.ts";

/**
 * Next answers 500 for everything that a page or an action throws, and for every request that it cannot read. It tells of each
 * such error here, before it answers; what the status should be is left for server/protect-response.ts to write.
 */
export const onRequestError: Instrumentation.onRequestError = (error, { method }) => {
  const context = requestContext.getStore();
  if (context) context.failureStatus ??= statusOf(error, method);
};

function statusOf(error: unknown, method: string): number | undefined {
  if (isDatabaseDown(error)) return 503;
  if (isServiceError(error)) return error.status;
  return isUnreadableRequest(error, method) ? 400 : undefined;
}

/**
 * How Next and React say that an action's request is no such thing (S138). They have no class or code for it; a test that sends
 * them nonsense tells when an upgrade has changed the words.
 */
const UNREADABLE =
  /^(Failed to parse body as FormData|Unexpected end of form|Connection closed|Invalid Server Actions request|Failed to find Server Action|The Server Reference ID|The router state header was sent but could not be parsed|Multipart: )/;

function isUnreadableRequest(error: unknown, method: string): boolean {
  if (!(error instanceof Error)) return false;
  return UNREADABLE.test(error.message) || (method === "POST" && error instanceof SyntaxError && /JSON/.test(error.message));
}
