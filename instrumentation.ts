import type { Instrumentation } from "next";
import { isDatabaseDown } from "#core/database-errors.ts";
import { isServiceError } from "#core/errors.ts";
import { type Failure, log, requestContext } from "#core/log.ts";

/** Next calls this before it responds with 500, and server/replace-failed-page.ts writes the response. */
export const onRequestError: Instrumentation.onRequestError = (error, { method }) => {
  const context = requestContext.getStore();
  const failure = failureOf(error, method);
  // Next also prints the error, but without the request's ID.
  if (!failure) log().error({ err: error }, "a page failed");
  if (context) context.failure ??= failure;
};

function failureOf(error: unknown, method: string): Failure | undefined {
  if (isDatabaseDown(error)) {
    return { status: 503, error: "unavailable", description: "The service cannot reach its database" };
  }
  if (isServiceError(error)) return { status: error.status, error: error.code, description: error.message };
  if (!isUnreadableRequest(error, method)) return undefined;
  return { status: 400, error: "unreadable_form", description: "The form could not be read" };
}

/** These errors of Next and React have no class or code (S138). A test fails when an upgrade changes the messages. */
const UNREADABLE =
  /^(Failed to parse body as FormData|Unexpected end of form|Connection closed|Invalid Server Actions request|Server Action arguments list is too long|Server Function has too many bound arguments|Already initialized |Invalid (forward )?reference\.|Invalid (Map|Set|Iterator) initializer|Invalid data for bytes stream|Maximum array nesting exceeded|BigInt is too large|Failed to find Server Action|The Server Reference ID|The router state header was sent but could not be parsed|Multipart: )/;

function isUnreadableRequest(error: unknown, method: string): boolean {
  if (!(error instanceof Error)) return false;
  return UNREADABLE.test(error.message) || (method === "POST" && error instanceof SyntaxError && /JSON/.test(error.message));
}
