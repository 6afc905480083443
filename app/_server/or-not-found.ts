import { notFound } from "next/navigation";
import { type ErrorCode, isServiceError } from "#core/errors.ts";

export async function orNotFound<T>(wanted: Promise<T>, codes: readonly ErrorCode[] = ["not_found"]): Promise<T> {
  try {
    return await wanted;
  } catch (error) {
    if (isServiceError(error) && codes.includes(error.code)) notFound();
    throw error;
  }
}

/** URLs of invalid revisions and of repositories on other platforms are 404 too. */
export const fileOrNotFound = <T>(wanted: Promise<T>): Promise<T> =>
  orNotFound(wanted, ["not_found", "invalid_request", "conflict"]);
