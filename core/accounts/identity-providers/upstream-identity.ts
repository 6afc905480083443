import { isServiceError } from "../../errors.ts";
import { displayText } from "../display-text.ts";

/** Who somebody is at an identity provider. Only `subject` identifies: names and addresses change hands (OpenID Connect Core §5.7). */
export type UpstreamIdentity = {
  subject: string;
  /** What the person knows the account there by. */
  displayName: string;
  /** Only one that the provider has verified. */
  email: string | null;
  /** What they might like to be called here. */
  username: string | null;
  fullName: string | null;
  /** When they proved who they are there; null where the provider does not say. */
  authenticatedAt: Date | null;
};

/** OpenID Connect Core §2: at most 255 characters of ASCII. */
const SUBJECT_MAX_CHARACTERS = 255;
const SHOWN_MAX_CHARACTERS = 100;

/** Whether a subject can be kept and found again exactly as it is. */
export function isStorableSubject(subject: string): boolean {
  return subject.length > 0 && subject.length <= SUBJECT_MAX_CHARACTERS && subject.isWellFormed() && !subject.includes("\0");
}

/** A text of the provider's choice as one clean line that can be shown and kept; null when nothing of it can. */
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
