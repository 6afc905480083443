import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** To the owner of an address with which somebody tries to sign up again; the page does not reveal this (S115). */
export function accountExistsLetter({ username }: { username: string }): Letter {
  const { BRAND_NAME } = env();
  return letter(`You already have a ${BRAND_NAME} account`, username, [
    `somebody, perhaps you, just tried to sign up to ${BRAND_NAME} with this address. It already has an account: "${username}".`,
    `Sign in here:\n${link("/login")}`,
    `If you have forgotten your password, choose a new one here:\n${link("/forgot-password")}`,
    "If it was not you, there is nothing to do: nobody was told that you have an account.",
  ]);
}
