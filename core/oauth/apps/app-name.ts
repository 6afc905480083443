import { displayText } from "../../accounts/display-text.ts";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { isLookAlike } from "./look-alike.ts";

export const APP_NAME_MAX_CHARACTERS = 60;

// Blank letters, such as the Hangul filler, count as text but show nothing.
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Checks an app's name, as the consent page will show it.
 * @throws ServiceError `invalid_request`, also for a name that could be mistaken for the platform's own (S28)
 */
export function parseAppName(value: unknown): string {
  const { BRAND_NAME } = env();
  const name = displayText("name", value, { maxCharacters: APP_NAME_MAX_CHARACTERS });
  if (!/[\p{L}\p{N}\p{S}]/u.test(name.replace(BLANK, ""))) {
    throw new ServiceError("invalid_request", "Give the app a name that can be read.", { field: "name" });
  }
  if (isLookAlike(name, BRAND_NAME)) {
    const description = `Choose a name that cannot be taken for ${BRAND_NAME} itself: people decide by it whom they trust.`;
    throw new ServiceError("invalid_request", description, { field: "name" });
  }
  return name;
}
