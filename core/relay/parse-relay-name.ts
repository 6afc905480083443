import { ServiceError } from "../errors.ts";

/** @throws ServiceError `invalid_request` with the field `name` */
export function parseRelayName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)) return name;
  const sentence =
    "A relay's name has lower-case letters, digits, dots, dashes and underscores, at most 64, and begins with a letter or digit.";
  throw new ServiceError("invalid_request", sentence, { field: "name" });
}
