import { env } from "#core/env.ts";
import { composeEmail, type EmailContent, link } from "./compose-email.ts";

export function signUpEmail({ username, token }: { username: string; token: string }): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`Confirm your e-mail address for ${BRAND_NAME}`, username, [
    `Open this link to create your ${BRAND_NAME} account "${username}". You need the password that you chose. The link works for 24 hours:`,
    link(`/verify-email/${token}`),
    "If you did not sign up, do nothing: without this link no account is created.",
  ]);
}

/** The page does not reveal that the address has an account (S115). */
export function accountExistsEmail({ username }: { username: string }): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`You already have a ${BRAND_NAME} account`, username, [
    `Somebody, perhaps you, just tried to sign up for ${BRAND_NAME} with this address. It already belongs to the account "${username}".`,
    `Sign in here:\n${link("/login")}`,
    `If you have forgotten your password, choose a new one here:\n${link("/forgot-password")}`,
    "If it was not you, do nothing: the page did not reveal that you have an account.",
  ]);
}

export function confirmAddressEmail({ username, token }: { username: string; token: string }): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`Confirm your new e-mail address for ${BRAND_NAME}`, username, [
    `Open this link to make this the address of the ${BRAND_NAME} account "${username}". The link works for 24 hours:`,
    link(`/verify-email/${token}`),
    "If you did not request this, do nothing: only a user who is signed in to that account can confirm it.",
  ]);
}

/** The page does not reveal that the address has an account (S115). */
export function addressInUseEmail({ username }: { username: string }): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`Your address cannot be used for another ${BRAND_NAME} account`, username, [
    `Somebody, perhaps you, tried to use this address for another ${BRAND_NAME} account. It still belongs to "${username}".`,
    `To use it for another account, first give "${username}" a different address.`,
  ]);
}

type Change = { username: string; newEmail: string };

export function emailChangeRequestedEmail({ username, newEmail }: Change): EmailContent {
  return composeEmail(`Your ${env().BRAND_NAME} e-mail address is about to change`, username, [
    `Somebody who is signed in to your account has asked to change its e-mail address to ${newEmail}. The address changes when somebody who is signed in to your account opens the link sent there and confirms it.`,
    `If it was not you, choose a new password now, which cancels the change:\n${link("/forgot-password")}`,
  ]);
}

export function emailChangedEmail({ username, newEmail }: Change): EmailContent {
  return composeEmail(`Your ${env().BRAND_NAME} e-mail address was changed`, username, [
    `The address of your account "${username}" is now ${newEmail}. This is the last e-mail that we send to this address.`,
    "If it was not you, contact the operator of this service.",
  ]);
}

export function resetPasswordEmail({ username, token }: { username: string; token: string }): EmailContent {
  return composeEmail(`Choose a new ${env().BRAND_NAME} password`, username, [
    "Open this link to choose a new password. It works once, within one hour:",
    link(`/reset-password/${token}`),
    "If you did not request this, do nothing: your password does not change.",
  ]);
}

export function passwordChangedEmail({ username }: { username: string }): EmailContent {
  return composeEmail(`Your ${env().BRAND_NAME} password was changed`, username, [
    "Your password was just changed, and your other sessions were ended.",
    `If it was not you, choose a new password now:\n${link("/forgot-password")}`,
  ]);
}

export function passwordSetEmail({ username }: { username: string }): EmailContent {
  return composeEmail(`Your ${env().BRAND_NAME} account now has a password`, username, [
    "A password was just set for your account, which had none, and your other sessions were ended.",
    `If it was not you, choose another password now:\n${link("/forgot-password")}`,
  ]);
}
