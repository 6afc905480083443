import * as oauth from "oauth4webapi";
import { ApiError, type ApiErrorFacts } from "../client/api-error.ts";

/**
 * A sign-in that failed. `message` says why and, if the caller can do something about it, what.
 *
 * `code` is the code of the protocol (`access_denied`, `invalid_grant`, `expired_token`, …), or the code of a check by the SDK:
 * `state_mismatch`, `issuer_mismatch`, `invalid_response`, `invalid_id_token`, `subject_mismatch`, `signed_out`, `unsupported`. A request
 * without a usable response throws an {@link ApiError} that is not a `SignInError`.
 * @see [RFC 6749 §4.1.2.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1) and
 *   [§5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)
 * @group Errors
 */
export class SignInError extends ApiError {
  override readonly name: string = "SignInError";

  constructor(message: string, { status = 0, ...facts }: Omit<ApiErrorFacts, "status"> & { status?: number }) {
    super(message, { ...facts, status });
  }
}

/** Turns an endpoint's refusal into a `SignInError`. Other errors are returned unchanged. */
export function asSignInError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error instanceof SignInError) return error;
  if (error.status < 400 || error.status >= 500 || error.code.startsWith("http_")) return error;
  const { message, status, code, requestId, retryAfterSeconds, field, scope } = error;
  return new SignInError(message, { status, code, requestId, retryAfterSeconds, field, scope, cause: error });
}

export async function orRefused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refused(error);
  }
}

/** oauth4webapi's own error contains the response with the tokens, and errors end up in logs. */
function refused(error: unknown): unknown {
  if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)) return error;
  // An error about the form of a response contains that response.
  if ((error.cause instanceof Object && "body" in error.cause) || error.code === oauth.HTTP_REQUEST_FORBIDDEN) {
    const advice = "Check the service, or use the SDK version that matches it.";
    return new ApiError(`The service's response cannot be used: ${error.message}. ${advice}`, {
      status: 200,
      code: "unexpected_answer",
    });
  }
  return invalidIdToken(`${error.message}${error.code === oauth.JWT_TIMESTAMP_CHECK ? "; check this machine's clock" : ""}`);
}

export const invalidIdToken = (why: string): SignInError =>
  new SignInError(`The ID token is not valid: ${why}.`, { code: "invalid_id_token" });
