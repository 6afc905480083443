import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** Sent after an account without a password got one: it is a new way to sign in. */
export function passwordSetLetter({ username }: { username: string }): Letter {
  return letter(`Your ${env().BRAND_NAME} account has a password now`, username, [
    "your account, which had no password, just got one.",
    `If it was not you, choose another now:\n${link("/forgot-password")}`,
  ]);
}
