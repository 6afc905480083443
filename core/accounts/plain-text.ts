import { ServiceError } from "../errors.ts";

/**
 * A string from outside that Postgres can store. NUL bytes, lone surrogates and U+FFFD (the result of decoding invalid UTF-8)
 * are refused here with the field's name, before they cause a database error (S51).
 * @throws ServiceError `invalid_request`
 */
export function plainText(field: string, value: unknown, maxCharacters = 10_000): string {
  if (typeof value !== "string") throw new ServiceError("invalid_request", "This must be text.", { field });
  if (value.length > maxCharacters) {
    throw new ServiceError("invalid_request", `Shorten this to at most ${maxCharacters} characters.`, { field });
  }
  if (value.includes("\0") || value.includes("\u{fffd}") || !value.isWellFormed()) {
    throw new ServiceError("invalid_request", "This contains characters that are not valid text.", { field });
  }
  return value;
}
