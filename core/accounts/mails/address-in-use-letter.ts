import { env } from "../../env.ts";
import { type Letter, letter } from "./letter.ts";

/** To an address that has an account and that another account wants; the page does not reveal this (S115). */
export function addressInUseLetter({ username }: { username: string }): Letter {
  const { BRAND_NAME } = env();
  return letter(`Your address cannot be used for another ${BRAND_NAME} account`, username, [
    `somebody, perhaps you, wanted to give this address to another ${BRAND_NAME} account. It belongs to "${username}" and stays there.`,
    "To move it, first give that account another address.",
  ]);
}
