import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

type About = {
  username: string;
  /** The provider, and the account's name there. */
  provider: string;
  displayName: string;
  /** Whether users sign in with it; an organization's issuer only proves membership. */
  isWayIn: boolean;
};

/** Sent after every link, so that the owner notices if somebody else added a way to sign in. */
export function identityLinkedLetter({ username, provider, displayName, isWayIn }: About): Letter {
  const { BRAND_NAME } = env();
  return letter(`${provider} is linked to your ${BRAND_NAME} account`, username, [
    isWayIn
      ? `${displayName} at ${provider} can now sign in to your account.`
      : `${displayName} at ${provider} is now linked to your account.`,
    `If it was not you, unlink it and choose a new password now:\n${link("/settings/linked-accounts")}`,
  ]);
}

export function identityUnlinkedLetter({ username, provider, displayName, isWayIn }: About): Letter {
  const { BRAND_NAME } = env();
  return letter(`${provider} is no longer linked to your ${BRAND_NAME} account`, username, [
    isWayIn
      ? `${displayName} at ${provider} can no longer sign in to your account.`
      : `${displayName} at ${provider} is no longer linked to your account.`,
    `If it was not you, look at how your account is signed in to:\n${link("/settings/linked-accounts")}`,
  ]);
}
