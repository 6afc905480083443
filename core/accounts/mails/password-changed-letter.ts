import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** Sent after every change of a password, so that the owner notices a change by somebody else. */
export function passwordChangedLetter({ username }: { username: string }): Letter {
  return letter(`Your ${env().BRAND_NAME} password was changed`, username, [
    "your password was just changed, and your other sessions were signed out.",
    `If it was not you, choose a new password now:\n${link("/forgot-password")}`,
  ]);
}
