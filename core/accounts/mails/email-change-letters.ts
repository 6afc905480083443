import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

type Change = { username: string; newEmail: string };

/** To the present address when a change is requested, while it can still be stopped. */
export function emailChangeRequestedLetter({ username, newEmail }: Change): Letter {
  return letter(`Your ${env().BRAND_NAME} e-mail address is about to change`, username, [
    `somebody signed in as you asked to change your address to ${newEmail}. It changes once a link sent there is opened.`,
    `If it was not you, choose a new password now; that stops it:\n${link("/forgot-password")}`,
  ]);
}

/** To the former address, after the change. */
export function emailChangedLetter({ username, newEmail }: Change): Letter {
  return letter(`Your ${env().BRAND_NAME} e-mail address was changed`, username, [
    `the address of your account "${username}" is now ${newEmail}. This is the last mail we send here.`,
    "If it was not you, write to the operator of this service.",
  ]);
}
