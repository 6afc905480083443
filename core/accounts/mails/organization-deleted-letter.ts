import { env } from "../../env.ts";
import { type Letter, letter } from "./letter.ts";

type Deleted = {
  greeted: string;
  organization: string;
  /** Undefined if the operator's command did it. */
  by: string | undefined;
};

/** To its former administrators, so that they do not learn of it from what stops working. */
export function organizationDeletedLetter({ greeted, organization, by }: Deleted): Letter {
  const { BRAND_NAME } = env();
  return letter(`The organization ${organization} was deleted`, greeted, [
    `${by ?? `The operator of ${BRAND_NAME}`} has deleted the organization ${organization}, with its repositories, collections and OAuth apps. It cannot be undone.`,
    "You get this because you were one of its administrators.",
  ]);
}
