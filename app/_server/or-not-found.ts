import { notFound } from "next/navigation";
import { type ErrorCode, isServiceError } from "#core/errors.ts";

/** Waits for data from `core`. The page is a 404 if `core` fails with one of `codes`. */
export async function orNotFound<T>(wanted: Promise<T>, codes: readonly ErrorCode[] = ["not_found"]): Promise<T> {
  try {
    return await wanted;
  } catch (error) {
    if (isServiceError(error) && codes.includes(error.code)) notFound();
    throw error;
  }
}

/** Like `orNotFound`, for files and revisions. URLs of invalid revisions and of repositories on other platforms are 404 too. */
export const fileOrNotFound = <T>(wanted: Promise<T>): Promise<T> =>
  orNotFound(wanted, ["not_found", "invalid_request", "conflict"]);
