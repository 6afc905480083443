import { ServiceError } from "../../errors.ts";

/** The answer to every passkey that does not sign in: unknown, removed, somebody else's, replayed or damaged (S115). */
export function passkeyRefused(cause?: unknown): ServiceError {
  return new ServiceError("unauthorized", "This passkey did not work here. Try again, or use another way.", { cause });
}
