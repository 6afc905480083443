import { createPublicKey, type JsonWebKey } from "node:crypto";

/** Verification with a longer key or exponent takes up to a hundred times as long, on shared threads (S137). */
export const RSA_MAX_BITS = 4_096;
const RSA_MAX_EXPONENT = 2n ** 32n;

/** A key that cannot be read costs nothing. */
export function isCostlyKey(key: JsonWebKey): boolean {
  if (key.kty !== "RSA") return false;
  try {
    const { modulusLength = 0, publicExponent = 0n } = createPublicKey({ key, format: "jwk" }).asymmetricKeyDetails ?? {};
    return modulusLength > RSA_MAX_BITS || publicExponent > RSA_MAX_EXPONENT;
  } catch {
    return false;
  }
}
