import { ApiError, type ApiErrorFacts } from "../client/api-error.ts";

/**
 * A sign-in that did not come to its end. `code` is that of the protocol (`access_denied`, `invalid_grant`, `expired_token`), or of a
 * check of ours: `state_mismatch`, `issuer_mismatch`, `invalid_response`, `invalid_id_token`. What never arrived is an `ApiError` of
 * another kind.
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 and section 5.2
 */
export class SignInError extends ApiError {
  override readonly name: string = "SignInError";

  constructor(message: string, { status = 0, ...facts }: Omit<ApiErrorFacts, "status"> & { status?: number }) {
    super(message, { ...facts, status });
  }
}

/** An answer of the token endpoint that says what is wrong, as an error of the sign-in; others stay what they are. */
export function asSignInError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error instanceof SignInError) return error;
  if (error.status < 400 || error.status >= 500 || error.code.startsWith("http_")) return error;
  const { message, status, code, requestId, retryAfterSeconds, field, scope } = error;
  return new SignInError(message, { status, code, requestId, retryAfterSeconds, field, scope, cause: error });
}
