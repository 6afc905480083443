import { notFound } from "next/navigation";
import { isServiceError } from "#core/errors.ts";

/** What is asked of core for a page; what is not there, or lies on another platform, has no page. */
export async function orNotFound<T>(wanted: Promise<T>): Promise<T> {
  try {
    return await wanted;
  } catch (error) {
    if (isServiceError(error) && ["not_found", "invalid_request", "conflict"].includes(error.code)) notFound();
    throw error;
  }
}
