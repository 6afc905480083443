import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

/** With the link for replacing a forgotten password. */
export function resetPasswordLetter({ username, token }: { username: string; token: string }): Letter {
  return letter(`Choose a new ${env().BRAND_NAME} password`, username, [
    "with this link you choose a new password. It works once, for one hour:",
    link(`/reset-password/${token}`),
    "If you did not ask for it, do nothing: your password stays as it is.",
  ]);
}
