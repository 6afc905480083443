import { isIP } from "node:net";
import { env } from "../../env.ts";

/** Our identity for authenticators (WebAuthn Level 3 §4): passkeys are bound to the host of ORIGIN, and work nowhere else. */
export function relyingParty(): { id: string; name: string; origin: string } {
  const { ORIGIN, BRAND_NAME } = env();
  return { id: new URL(ORIGIN).hostname, name: BRAND_NAME, origin: ORIGIN };
}

/** Browsers support passkeys only for a named host, by https or on the local machine. */
export function arePasskeysAvailable(): boolean {
  const { protocol, hostname } = new URL(env().ORIGIN);
  const isNamed = isIP(hostname.replace(/^\[|\]$/g, "")) === 0;
  return isNamed && (protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost"));
}
