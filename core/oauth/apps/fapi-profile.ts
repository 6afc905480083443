import type { JWK } from "jose";
import { invalidRequest } from "#core/errors.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { algorithmsOf } from "../clients/client-keys.ts";

export const FAPI_REQUIREMENTS = {
  isPkceRequired: true,
  isParRequired: true,
  isDpopRequired: true,
  isRefreshRotated: false,
} as const;

/** FAPI 2.0 Security Profile §5.4.1. "EdDSA" there means Ed25519 (RFC 9864). */
const FAPI_ALGORITHMS: readonly string[] = ["PS256", "ES256", "EdDSA", "Ed25519"];
export const isFapiAlgorithm = (alg: unknown): boolean => FAPI_ALGORITHMS.includes(String(alg));

type Requirement = keyof typeof FAPI_REQUIREMENTS;
type FapiApp = Pick<OAuthApp, Requirement | "isDeviceFlowAllowed" | "jwks" | "jwksUri">;

/** See docs/decisions/094. */
export function assertFapi(app: FapiApp): void {
  const refuse = (sentence: string, field = "securityProfile") => invalidRequest(sentence, field);
  for (const [field, value] of Object.entries(FAPI_REQUIREMENTS) as [Requirement, boolean][]) {
    if (app[field] === value) continue;
    throw refuse(`FAPI 2.0 needs this ${value ? "on" : "off"}. Choose the standard profile to change it.`, field);
  }
  if (!app.jwks && !app.jwksUri) throw refuse("Set the app's keys first: FAPI 2.0 does not allow a secret.");
  const { keys } = (app.jwks ?? { keys: [] }) as { keys: JWK[] };
  if (!app.jwksUri && !keys.some((key) => algorithmsOf(key).some(isFapiAlgorithm))) {
    throw refuse("FAPI 2.0 needs a key that signs with PS256, ES256 or EdDSA.");
  }
  if (app.isDeviceFlowAllowed) throw refuse("Turn off the device flow first: FAPI 2.0 allows only the authorization code flow.");
}
