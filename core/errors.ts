import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";

export const statusOf = {
  invalid_request: 400,
  unauthorized: 401,
  quota_exceeded: 402,
  insufficient_scope: 403,
  forbidden: 403,
  reauthentication_required: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  rate_limited: 429,
  server_error: 500,
  upstream_error: 502,
  upstream_timeout: 504,
  unavailable: 503,
  /** RFC 4918 and Git LFS define this status, after which no client retries. */
  storage_full: 507,
} as const;

export type ErrorCode = keyof typeof statusOf;

type Details = {
  cause?: unknown;
  field?: string;
  retryAfterSeconds?: number;
  scope?: string;
  requires?: Requirement;
  /** Existing clients distinguish failures by this code. */
  wireCode?: WireCode | undefined;
};

type Requirement = {
  role?: OrganizationRole;
  securityRestrictions?: readonly SecurityRestriction[];
  orgId?: string;
};

export type WireCode = "RepoNotFound" | "RevisionNotFound" | "EntryNotFound" | "GatedRepo";

export class ServiceError extends Error {
  override name = "ServiceError";
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly scope: string | undefined;
  readonly requires: Requirement | undefined;
  readonly wireCode: WireCode | undefined;
  readonly others: readonly ServiceError[] = [];

  constructor(
    code: ErrorCode,
    description: string,
    { cause, field, retryAfterSeconds, scope, requires, wireCode }: Details = {},
  ) {
    super(description, { cause });
    this.code = code;
    this.field = field;
    this.retryAfterSeconds = retryAfterSeconds;
    this.scope = scope;
    this.requires = requires;
    this.wireCode = wireCode;
  }

  get status(): number {
    return statusOf[this.code];
  }
}

export function invalidRequest(description: string, field?: string): ServiceError {
  return new ServiceError("invalid_request", description, field === undefined ? {} : { field });
}

export function conflict(description: string, field?: string): ServiceError {
  return new ServiceError("conflict", description, field === undefined ? {} : { field });
}

/** An object that the caller may not see must look like one that does not exist (S136). */
export function notFound(what: string): ServiceError {
  const wireCode = wireCodes[what];
  return new ServiceError("not_found", `${what} not found`, wireCode && { wireCode });
}

const wireCodes: Record<string, WireCode | undefined> = {
  Repository: "RepoNotFound",
  Revision: "RevisionNotFound",
  Entry: "EntryNotFound",
};

/** @throws the first ServiceError, with the others in `others`, so that a form can show all errors at once */
export async function checkAll<Checks extends Record<string, () => unknown>>(
  checks: Checks,
): Promise<{ [Name in keyof Checks]: Awaited<ReturnType<Checks[Name]>> }> {
  const results: Record<string, unknown> = {};
  const found: ServiceError[] = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      results[name] = await check();
    } catch (error) {
      if (!isServiceError(error)) throw error;
      found.push(error, ...error.others);
    }
  }
  const [first, ...others] = found;
  if (first) throw Object.assign(first, { others });
  return results as { [Name in keyof Checks]: Awaited<ReturnType<Checks[Name]>> };
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && error.name === "ServiceError";
}
