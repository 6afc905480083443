import type { ApiResponse } from "#core/api-document.ts";

/** Possible errors of any request of a kind, described once (docs/specification/errors-and-limits.md#error-body). */

export const ERROR_SCHEMA = "Error";

const text = (description: string, example: string) => ({ description, schema: { type: "string" }, example });

const headers = {
  "X-Request-Id": text("Names the request in the logs of this service.", "5f9c1e2ab7d04c3e8f6a1b20"),
  "X-Error-Message": text("`error` of the body, in ASCII.", "Repository not found"),
};
const wireCode = {
  "X-Error-Code": text(
    "`RepoNotFound`, `RevisionNotFound`, `EntryNotFound` or `GatedRepo`, where it is one of these.",
    "RepoNotFound",
  ),
};
const challenge = {
  "WWW-Authenticate": text("RFC 6750 §3: what the token lacks, and where tokens are had.", 'Bearer error="invalid_token"'),
};
const retryAfter = { "Retry-After": text("After how many seconds to ask again.", "30") };

type Kind = { name: string; description: string; code: string; error: string; scope?: string; headers?: object };

const kinds: Record<string, Kind> = {
  400: {
    ...{ name: "BadRequest", code: "invalid_request", error: "name: must not be empty." },
    description: "`invalid_request`: the request is not understood. The sentence names the field, and says what to send.",
  },
  401: {
    ...{ name: "Unauthorized", code: "unauthorized", error: "Invalid credentials in Authorization header", headers: challenge },
    description: "`unauthorized`: there is no token, or it is unknown, expired or revoked.",
  },
  402: {
    ...{ name: "PaymentRequired", code: "quota_exceeded", error: "What was allowed for this month is used up." },
    description: "`quota_exceeded`: what was allowed for this month is used up.",
  },
  403: {
    ...{ name: "Forbidden", code: "insufficient_scope", error: "This token lacks the scope webhooks.", scope: "webhooks" },
    headers: { ...wireCode, ...challenge },
    description:
      "`insufficient_scope`: the token lacks the scope that `scope` names. `forbidden`: its person may not, and `requires` says what would let them, where something would. `reauthentication_required`: the person must have signed in a short while ago.",
  },
  404: {
    ...{ name: "NotFound", code: "not_found", error: "Repository not found", headers: wireCode },
    description: "`not_found`: there is nothing at this address, or nothing that the caller may see; the two are not told apart.",
  },
  409: {
    ...{ name: "Conflict", code: "conflict", error: "There is one of that name already." },
    description: "`conflict`: it is not in a state for this, is there already, or is kept elsewhere and only mirrored here.",
  },
  410: {
    ...{ name: "Gone", code: "gone", error: "It is not kept any more." },
    description: "`gone`: it was there, and is not kept any more.",
  },
  412: {
    ...{ name: "PreconditionFailed", code: "precondition_failed", error: "The branch has moved on." },
    description: "`precondition_failed`: what the request took for granted does not hold any more.",
  },
  413: {
    ...{ name: "PayloadTooLarge", code: "payload_too_large", error: "The body is larger than 64 KiB." },
    description: "`payload_too_large`: the body is larger than this address takes.",
  },
  429: {
    ...{
      name: "TooManyRequests",
      code: "rate_limited",
      error: "Too many requests. Try again in 30 seconds.",
      headers: retryAfter,
    },
    description: "`rate_limited`: too often in too short a time.",
  },
  500: {
    ...{ name: "ServerError", code: "server_error", error: "Something went wrong on our side" },
    description: "`server_error`: a fault of this service. `X-Request-Id` finds it in its logs.",
  },
  503: {
    ...{
      name: "Unavailable",
      code: "unavailable",
      error: "The service cannot reach its database; try again",
      headers: retryAfter,
    },
    description: "`unavailable`: not now; ask again after `Retry-After`.",
  },
};

/** `components.responses`. */
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
            example: { error, error_description: error, code, ...(scope && { scope }) },
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

/** The error statuses that follow from an operation's kind; it defines its own ones itself. */
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
