import { ServiceError } from "../../errors.ts";

/** The error for every passkey that does not sign in: unknown, deleted, somebody else's, replayed or damaged (S115). */
export function passkeyRefused(cause?: unknown): ServiceError {
  return new ServiceError("unauthorized", "This passkey did not work here. Try again, or use another way.", { cause });
}
