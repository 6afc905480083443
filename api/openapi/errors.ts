import type { ApiResponse } from "#core/api-document.ts";

export const ERROR_SCHEMA = "Error";

const text = (description: string, example: string) => ({ description, schema: { type: "string" }, example });

const headers = {
  "X-Request-Id": text("Identifies the request in the service's logs.", "5f9c1e2ab7d04c3e8f6a1b20"),
  "X-Error-Message": text("The body's `error`, in ASCII.", "Repository not found"),
};
const wireCode = {
  "X-Error-Code": text(
    "`RepoNotFound`, `RevisionNotFound`, `EntryNotFound` or `GatedRepo`, if the error is one of these.",
    "RepoNotFound",
  ),
};
const challenge = {
  "WWW-Authenticate": text("RFC 6750 §3: what the token lacks, and where to get a suitable one.", 'Bearer error="invalid_token"'),
};
const retryAfter = { "Retry-After": text("The number of seconds to wait before the next request.", "30") };

type Kind = { name: string; description: string; code: string; error: string; scope?: string; headers?: object };

const kinds: Record<string, Kind> = {
  400: {
    ...{ name: "BadRequest", code: "invalid_request", error: "name: must not be empty." },
    description:
      "`invalid_request`: the request is malformed or fails validation. `error` names the field and says what to send.",
  },
  401: {
    ...{ name: "Unauthorized", code: "unauthorized", error: "Invalid credentials in Authorization header", headers: challenge },
    description: "`unauthorized`: there is no token, or it is unknown, expired or revoked.",
  },
  402: {
    ...{ name: "PaymentRequired", code: "quota_exceeded", error: "This month's allowance is used up." },
    description: "`quota_exceeded`: this month's allowance is used up.",
  },
  403: {
    ...{ name: "Forbidden", code: "insufficient_scope", error: "This token lacks the scope webhooks.", scope: "webhooks" },
    headers: { ...wireCode, ...challenge },
    description:
      "`insufficient_scope`: the token lacks the scope that `scope` names. `forbidden`: the token's user lacks the permission; `requires`, if present, names the required role, the sign-in requirements that they do not meet, or the organization that the token has no access to. `reauthentication_required`: the user must have signed in recently.",
  },
  404: {
    ...{ name: "NotFound", code: "not_found", error: "Repository not found", headers: wireCode },
    description:
      "`not_found`: the resource does not exist, or the caller may not see it. The response is the same in both cases.",
  },
  409: {
    ...{ name: "Conflict", code: "conflict", error: "This name is already taken." },
    description:
      "`conflict`: the resource's state does not allow the request, the resource already exists, or it is a mirror of a repository on another platform.",
  },
  410: {
    ...{ name: "Gone", code: "gone", error: "It is no longer stored." },
    description: "`gone`: the resource existed, and the service no longer stores it.",
  },
  412: {
    ...{ name: "PreconditionFailed", code: "precondition_failed", error: "The branch has newer commits." },
    description: "`precondition_failed`: a condition of the request is no longer true.",
  },
  413: {
    ...{ name: "PayloadTooLarge", code: "payload_too_large", error: "The body is larger than 64 KiB." },
    description: "`payload_too_large`: the body is larger than this endpoint accepts.",
  },
  429: {
    ...{
      name: "TooManyRequests",
      code: "rate_limited",
      error: "Too many requests. Try again in 30 seconds.",
      headers: retryAfter,
    },
    description: "`rate_limited`: too many requests in too short a time.",
  },
  500: {
    ...{ name: "ServerError", code: "server_error", error: "Something went wrong on our side" },
    description: "`server_error`: an error inside the service. `X-Request-Id` identifies the request in the service's logs.",
  },
  503: {
    ...{
      name: "Unavailable",
      code: "unavailable",
      error: "The service cannot reach its database; try again",
      headers: retryAfter,
    },
    description: "`unavailable`: the service cannot process the request now. Retry after the time in `Retry-After`.",
  },
};

export function errorResponses(): Record<string, ApiResponse> {
  return Object.fromEntries(
    Object.values(kinds).map(({ name, description, code, error, scope, headers: own }) => [
      name,
      {
        description,
        headers: { ...headers, ...own },
        content: {
          "application/json": {
            schema: { $ref: `#/components/schemas/${ERROR_SCHEMA}` },
            example: { error, code, ...(scope && { scope }) },
          },
        },
      },
    ]),
  );
}

export const errorRef = (status: number): ApiResponse => ({ $ref: `#/components/responses/${kinds[status]?.name}` });

type Facts = {
  takesToken: boolean;
  takesScope: boolean;
  namesSomething: boolean;
  isOfRepo: boolean;
  changes: boolean;
  hasBody: boolean;
};

/** Statuses that only one operation returns are in the operation's definition. */
export function errorStatuses({ takesToken, takesScope, namesSomething, isOfRepo, changes, hasBody }: Facts): number[] {
  return [
    400,
    ...(takesToken ? [401, 403] : []),
    ...(namesSomething || takesScope ? [404] : []),
    ...(takesToken && (changes || isOfRepo) ? [409] : []),
    ...(hasBody ? [413] : []),
    ...[429, 500, 503],
  ];
}
