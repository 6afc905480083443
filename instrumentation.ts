import type { Instrumentation } from "next";
import { isDatabaseDown } from "#core/database-errors.ts";
import { isServiceError } from "#core/errors.ts";
import { type Failure, log, requestContext } from "#core/log.ts";

/**
 * Next responds with 500 if a page or an action throws, and to every request that it cannot read. It reports each such error here before it
 * responds; server/replace-failed-page.ts then writes the response.
 */
export const onRequestError: Instrumentation.onRequestError = (error, { method }, { routeType }) => {
  const context = requestContext.getStore();
  const isUnread = method === "POST" && routeType !== "route" && context?.hasBegun !== true;
  const failure = failureOf(error, isUnread || isUnreadable(error, method));
  // Logged with the request's id, which the user can report. Next also prints the error, but without the id.
  if (!failure) log().error({ err: error }, "a page failed");
  if (context) context.failure ??= failure;
};

function failureOf(error: unknown, isForm: boolean): Failure | undefined {
  if (isDatabaseDown(error)) {
    return { status: 503, error: "unavailable", description: "The service cannot reach its database" };
  }
  if (isServiceError(error)) return { status: error.status, error: error.code, description: error.message };
  if (!isForm) return undefined;
  return { status: 400, error: "unreadable_form", description: "The form could not be read" };
}

/** Next's errors about malformed requests have no class or code of their own. */
function isUnreadable(error: unknown, method: string): boolean {
  if (!(error instanceof Error)) return false;
  if (error.message.startsWith("The router state header was sent but could not be parsed")) return true;
  return method === "POST" && error instanceof SyntaxError && /JSON/.test(error.message);
}
