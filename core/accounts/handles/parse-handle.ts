import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { plainText } from "../plain-text.ts";
import { reservedHandles } from "./reserved-handles.ts";

export const HANDLE_MIN_CHARACTERS = 2;
export const HANDLE_MAX_CHARACTERS = 39;

// ASCII only: excludes look-alike letters of other scripts.
const SHAPE = /^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$/;
// Endings that mean something to git, feeds and content negotiation.
const MISLEADING_ENDING = /\.(git|atom|rss|json|html|xml|txt|js|css|map|ico|png|svg|wiki)$/;

/** A handle as its owner spells it, and its lower-case form, which is unique. */
export type HandleName = { spelled: string; canonical: string };

/**
 * Parses the username of a user or the name of an organization (S139): 2–39 letters and digits, with single `.`, `_` or `-`
 * between them; not reserved, and not in the form of our ids, since some URLs accept either (S101).
 * @throws ServiceError `invalid_request`
 */
export function parseHandle(value: unknown, field: string): HandleName {
  const spelled = plainText(field, value, 1_000).trim();
  const canonical = spelled.toLowerCase();
  if (spelled.length < HANDLE_MIN_CHARACTERS || spelled.length > HANDLE_MAX_CHARACTERS) {
    throw new ServiceError("invalid_request", `Use ${HANDLE_MIN_CHARACTERS} to ${HANDLE_MAX_CHARACTERS} characters.`, { field });
  }
  if (!SHAPE.test(spelled)) {
    throw new ServiceError(
      "invalid_request",
      "Use letters, digits and single . _ or - between them; begin and end with a letter or a digit.",
      { field },
    );
  }
  if (isReserved(canonical)) throw new ServiceError("invalid_request", "This name is reserved. Choose another.", { field });
  return { spelled, canonical };
}

function isReserved(canonical: string): boolean {
  return (
    reservedHandles.has(canonical) ||
    canonical === env().VENDOR ||
    canonical === env().BRAND_NAME.toLowerCase() ||
    isId(canonical) ||
    MISLEADING_ENDING.test(canonical)
  );
}
