import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

type HandedOver = { greeted: string; by: string; organization: string };

/** To the new administrator. */
export function handedOverLetter({ greeted, by, organization }: HandedOver): Letter {
  return letter(`You administer ${organization} on ${env().BRAND_NAME}`, greeted, [
    `${by} has handed the organization ${organization} over to you: you are its administrator now.`,
    link(`/organizations/${organization}`),
  ]);
}
