import { displayText } from "../../accounts/display-text.ts";
import { organizationPlans } from "../../accounts/organizations/plans.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { ServiceError } from "../../errors.ts";

export const PROVIDER_NAME_MAX_CHARACTERS = 60;
export const PROVIDERS_MAX = 50;
export const MODEL_NAME_MAX_CHARACTERS = 200;
export const MODELS_MAX = 500;
const URL_MAX_CHARACTERS = 500;
const KEY_MAX_CHARACTERS = 1_000;
const PURPOSE = "inference provider keys";

export function parseProviderName(value: unknown): string {
  return displayText("name", value, { maxCharacters: PROVIDER_NAME_MAX_CHARACTERS });
}

/**
 * The URL before `/chat/completions`, such as `https://api.example.com/v1`, without a trailing slash.
 * @throws ServiceError `invalid_request`
 */
export function parseBaseUrl(value: unknown): string {
  const url = URL.parse(plainText("baseUrl", value, URL_MAX_CHARACTERS).trim());
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isPlain) {
    throw new ServiceError("invalid_request", "Give the address before /chat/completions, such as https://api.example.com/v1.", {
      field: "baseUrl",
    });
  }
  return url.href.replace(/(?<!\/)\/+$/, "");
}

/** A key as sent in the header; null if the provider needs none. @throws ServiceError `invalid_request` */
export function parseApiKey(value: unknown): string | null {
  const key = plainText("apiKey", value ?? "", KEY_MAX_CHARACTERS).trim();
  if (key === "") return null;
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ServiceError("invalid_request", "A key is letters, digits and signs without spaces.", { field: "apiKey" });
  }
  return key;
}

/** What is stored of a key: the sealed key, and its end for display (S55). */
export function sealedKey(key: string | null): { sealedApiKey: Uint8Array<ArrayBuffer> | null; last4: string | null } {
  // The end of a short key would reveal too much of it.
  return { sealedApiKey: key === null ? null : seal(PURPOSE, key), last4: key && key.length >= 12 ? key.slice(-4) : null };
}

export function openKey(sealed: Uint8Array | null): string | null {
  return sealed && unseal(PURPOSE, sealed);
}

/** A model by its public name, its provider's name for it, and the plans that it is for; none means everybody. */
export type NewModel = { name: string; upstreamName: string; plans: string[] };

/** @throws ServiceError `invalid_request` */
export function parseModel(input: { name: unknown; upstreamName?: unknown; plans?: readonly unknown[] }): NewModel {
  const name = modelName("model", input.name);
  const plans = [...new Set(input.plans ?? [])];
  const unknown = plans.find((plan) => !organizationPlans.some((each) => each === plan));
  if (unknown !== undefined) {
    throw new ServiceError("invalid_request", `Choose plans from: ${organizationPlans.join(", ")}.`, { field: "plans" });
  }
  return {
    name,
    upstreamName: input.upstreamName ? modelName("upstreamName", input.upstreamName) : name,
    plans: plans as string[],
  };
}

function modelName(field: string, value: unknown): string {
  const name = plainText(field, value, MODEL_NAME_MAX_CHARACTERS).trim();
  if (!/^[\x21-\x7e]+$/.test(name)) {
    throw new ServiceError(
      "invalid_request",
      "A model's name is letters, digits and signs such as - . : and /, without spaces.",
      {
        field,
      },
    );
  }
  return name;
}
