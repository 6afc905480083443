import { env } from "#core/env.ts";
import { composeEmail, type EmailContent, link } from "./compose-email.ts";

export function secondStepChangedEmail({ username, change }: { username: string; change: string }): EmailContent {
  return composeEmail(`How you sign in to ${env().BRAND_NAME} has changed`, username, [
    change,
    `If it was not you, choose a new password now:\n${link("/forgot-password")}\nThen check the sign-in methods of your account:\n${link("/settings/security")}`,
  ]);
}

export function secondStepFailedEmail({ username }: { username: string }): EmailContent {
  return composeEmail(`Somebody could not finish signing in to ${env().BRAND_NAME} as you`, username, [
    "Somebody passed the first step of signing in as you, with your password or a linked account, and then entered a wrong code several times. They got no further.",
    `If it was not you, somebody knows your password or can use a linked account. Choose a new password now:\n${link("/forgot-password")}\nThen check your linked accounts:\n${link("/settings/linked-accounts")}`,
  ]);
}

export function recoveryCodeUsedEmail({ username, left }: { username: string; left: number }): EmailContent {
  const rest = left === 0 ? "That was the last one." : `${left} ${left === 1 ? "is" : "are"} left.`;
  return composeEmail(`A recovery code was used to sign in to ${env().BRAND_NAME}`, username, [
    `One of your recovery codes was just used instead of your second step. ${rest}`,
    `Create new ones, or set up your second step again:\n${link("/settings/security")}`,
    `If it was not you, choose a new password now:\n${link("/forgot-password")}`,
  ]);
}

export function secondStepResetEmail({ username }: { username: string }): EmailContent {
  return composeEmail(`Your second step for signing in to ${env().BRAND_NAME} was removed`, username, [
    "An operator of this service has removed your passkeys, your authenticator app and your recovery codes. You now sign in without a second step.",
    `Set up a second step again:\n${link("/settings/security")}`,
    "If you did not request this, contact the operator of this service.",
  ]);
}

type About = {
  username: string;
  provider: string;
  displayName: string;
  /** False for an organization's issuer, which only proves membership. */
  isSignInMethod: boolean;
};

export function identityLinkedEmail({ username, provider, displayName, isSignInMethod }: About): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`${provider} is linked to your ${BRAND_NAME} account`, username, [
    isSignInMethod
      ? `${displayName} at ${provider} can now sign in to your account.`
      : `${displayName} at ${provider} is now linked to your account.`,
    `If it was not you, choose a new password now:\n${link("/forgot-password")}\nThen unlink ${displayName}:\n${link("/settings/linked-accounts")}`,
  ]);
}

export function identityUnlinkedEmail({ username, provider, displayName, isSignInMethod }: About): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`${provider} is no longer linked to your ${BRAND_NAME} account`, username, [
    isSignInMethod
      ? `${displayName} at ${provider} can no longer sign in to your account.`
      : `${displayName} at ${provider} is no longer linked to your account.`,
    `If it was not you, check your linked accounts:\n${link("/settings/linked-accounts")}`,
  ]);
}
