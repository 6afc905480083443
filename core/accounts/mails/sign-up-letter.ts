import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** To a new address: the link that creates the account. */
export function signUpLetter({ username, token }: { username: string; token: string }): Letter {
  const { BRAND_NAME } = env();
  return letter(`Confirm your e-mail address for ${BRAND_NAME}`, username, [
    `with this link your ${BRAND_NAME} account "${username}" is made. Its page asks for the password that you chose. It works for 24 hours:`,
    link(`/verify-email/${token}`),
    "If you did not sign up, do nothing: without the link there is no account.",
  ]);
}
