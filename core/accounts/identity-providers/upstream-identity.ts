import { isServiceError } from "#core/errors.ts";
import { displayText } from "../plain-text.ts";

/** Only `subject` identifies a user, because names and addresses change hands (OpenID Connect Core §5.7). */
export type UpstreamIdentity = {
  subject: string;
  displayName: string;
  email: string | null;
  username: string | null;
  fullName: string | null;
  authenticatedAt: Date | null;
};

/** The limit of OpenID Connect Core §2. */
const SUBJECT_MAX_CHARACTERS = 255;
const SHOWN_MAX_CHARACTERS = 100;

export function isStorableSubject(subject: string): boolean {
  return subject.length > 0 && subject.length <= SUBJECT_MAX_CHARACTERS && subject.isWellFormed() && !subject.includes("\0");
}

export function shownText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  try {
    const limits = { maxCharacters: SHOWN_MAX_CHARACTERS, isRequired: false };
    return displayText("name", value.slice(0, SHOWN_MAX_CHARACTERS).toWellFormed(), limits) || null;
  } catch (error) {
    if (isServiceError(error)) return null;
    throw error;
  }
}

/** The message is for the log. The user only learns that the sign-in failed. */
export class UnacceptableResponse extends Error {
  override name = "UnacceptableResponse";
}
