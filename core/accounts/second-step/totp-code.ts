import { Secret, TOTP } from "otpauth";
import { env } from "../../env.ts";

// RFC 6238 with the default values of authenticator apps.
const SETTINGS = { algorithm: "SHA1", digits: 6, period: 30 } as const;

/** The codes before and after are accepted too, because clocks differ and typing takes time (RFC 6238 §5.2). */
const WINDOW_STEPS = 1;

const SECRET_BYTES = 20; // RFC 4226 §4: 160 bits

export const TOTP_SEAL = "totp";

export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

export function totpUri(secret: string, username: string): string {
  return new TOTP({ ...SETTINGS, issuer: env().BRAND_NAME, label: username, secret: Secret.fromBase32(secret) }).toString();
}

/** The caller must accept each step only once (RFC 6238 §5.2). */
export function matchingStep(secret: string, code: string, at = Date.now()): number | undefined {
  const token = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(token)) return undefined;
  const key = Secret.fromBase32(secret);
  const delta = TOTP.validate({ ...SETTINGS, token, secret: key, timestamp: at, window: WINDOW_STEPS });
  return delta === null ? undefined : TOTP.counter({ period: SETTINGS.period, timestamp: at }) + delta;
}
