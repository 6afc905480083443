import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { isLookAlike } from "./look-alike.ts";

export const APP_NAME_MAX_CHARACTERS = 60;
export const APP_DESCRIPTION_MAX_CHARACTERS = 300;

/** An app's name as it will be shown on the consent page, or a refusal (S28). */
export function parseAppName(text: string): string {
  const { BRAND_NAME } = env();
  const name = cleanDisplayText(text);
  if (!/[\p{L}\p{N}\p{S}]/u.test(name)) throw refusal("Give the app a name.");
  if ([...name].length > APP_NAME_MAX_CHARACTERS)
    throw refusal(`Shorten the name to at most ${APP_NAME_MAX_CHARACTERS} characters.`);
  if (isLookAlike(name, BRAND_NAME)) {
    throw refusal(`Choose a name that cannot be taken for ${BRAND_NAME} itself: people decide by it whom they trust.`);
  }
  return name;
}

function refusal(description: string): ServiceError {
  return new ServiceError("invalid_request", description, { field: "name" });
}

/**
 * Text from a stranger as one line that shows what it is: without control characters, without the marks that turn the
 * reading direction around or show nothing, and without towers of accents.
 */
export function cleanDisplayText(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\p{Z}\t\r\n\u2800]+/gu, " ")
    .replace(INVISIBLE, "")
    .replace(/(\p{M}{2})\p{M}+/gu, "$1")
    .trim();
}

// Persian and emoji need the two joiners and the emoji selector; everything else without a shape goes.
const INVISIBLE = /(?!\u200c|\u200d|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
