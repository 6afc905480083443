import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** Sent after each change of how a user signs in, so that they notice one by somebody else. */
export function secondStepChangedLetter({ username, what }: { username: string; what: string }): Letter {
  return letter(`How you sign in to ${env().BRAND_NAME} has changed`, username, [
    `${what}`,
    `If it was not you, choose a new password now:\n${link("/forgot-password")}\nThen look at what your account is signed in with:\n${link("/settings/security")}`,
  ]);
}

/** Sent when the attempts at the second step run out. */
export function secondStepFailedLetter({ username }: { username: string }): Letter {
  return letter(`Somebody could not finish signing in to ${env().BRAND_NAME} as you`, username, [
    "somebody entered your password rightly, and then a wrong code several times. They are not signed in.",
    `If it was not you, somebody knows your password. Choose a new one now:\n${link("/forgot-password")}`,
  ]);
}

export function recoveryCodeUsedLetter({ username, left }: { username: string; left: number }): Letter {
  const rest = left === 0 ? "It was the last one." : `${left} ${left === 1 ? "is" : "are"} left.`;
  return letter(`A recovery code was used to sign in to ${env().BRAND_NAME}`, username, [
    `one of your recovery codes was just used in place of your second step. ${rest}`,
    `Make new ones, or set up your second step anew:\n${link("/settings/security")}`,
    `If it was not you, choose a new password now:\n${link("/forgot-password")}`,
  ]);
}

/** Sent after an operator has removed the second step. */
export function secondStepResetLetter({ username }: { username: string }): Letter {
  return letter(`Your second step of signing in to ${env().BRAND_NAME} was removed`, username, [
    "an operator of this service has removed your passkeys, your authenticator app and your recovery codes. Your password alone signs you in now.",
    `Set up a second step again:\n${link("/settings/security")}`,
    "If you did not ask for this, write to the operator of this service.",
  ]);
}
