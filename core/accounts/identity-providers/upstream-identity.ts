import { isServiceError } from "#core/errors.ts";
import { displayText } from "../plain-text.ts";

/** A user's identity at an identity provider. Only `subject` identifies: names and addresses change hands (OpenID Connect Core §5.7). */
export type UpstreamIdentity = {
  subject: string;
  /** The name by which the user knows the account there. */
  displayName: string;
  /** Only if the provider has verified it. */
  email: string | null;
  /** A suggestion for their username here. */
  username: string | null;
  fullName: string | null;
  /** When they authenticated there; null if the provider does not say. */
  authenticatedAt: Date | null;
};

/** OpenID Connect Core §2: at most 255 characters of ASCII. */
const SUBJECT_MAX_CHARACTERS = 255;
const SHOWN_MAX_CHARACTERS = 100;

/** Whether a subject can be stored and found again unchanged. */
export function isStorableSubject(subject: string): boolean {
  return subject.length > 0 && subject.length <= SUBJECT_MAX_CHARACTERS && subject.isWellFormed() && !subject.includes("\0");
}

/** A text from the provider as one clean line that can be shown and stored; null if nothing is left. */
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

/** A provider's response is not a valid proof. The message is for the log; the user is only told that the sign-in failed. */
export class UnacceptableResponse extends Error {
  override name = "UnacceptableResponse";
}
