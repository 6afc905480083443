import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** To the new address: the link that confirms it. */
export function changeEmailLetter({ username, token }: { username: string; token: string }): Letter {
  const { BRAND_NAME } = env();
  return letter(`Confirm your new e-mail address for ${BRAND_NAME}`, username, [
    `with this link, this address becomes the one of the ${BRAND_NAME} account "${username}". It works for 24 hours:`,
    link(`/verify-email/${token}`),
    "If you did not ask for it, do nothing: only who is signed in to that account can confirm it.",
  ]);
}
