import { displayText } from "../display-text.ts";
import { type EmailAddress, parseEmailAddress } from "../email-address.ts";
import { type HandleName, parseHandle } from "../handles/parse-handle.ts";
import { checkPassword } from "../passwords/check-password.ts";

export const FULL_NAME_MAX_CHARACTERS = 100;

/** The input for a new user, from a form or a command line. */
export type NewUserInput = {
  username: string;
  email: string;
  password: string;
  /** Shown to others beside the username; the username if it is empty. */
  fullName?: string;
};

export type NewUserFields = { handle: HandleName; email: EmailAddress; password: string; fullName: string };

/** @throws ServiceError `invalid_request` with the first invalid field */
export function parseNewUser(input: NewUserInput): NewUserFields {
  const handle = parseHandle(input.username, "username");
  const email = parseEmailAddress(input.email);
  const fullName = parseFullName(input.fullName ?? "") || handle.spelled;
  const password = checkPassword(input.password, [handle.spelled, fullName, email.address]);
  return { handle, email, password, fullName };
}

export function parseFullName(value: unknown): string {
  return displayText("fullName", value, { maxCharacters: FULL_NAME_MAX_CHARACTERS, isRequired: false });
}
