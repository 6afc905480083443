import { seal, unseal } from "../crypto/seal.ts";

const PURPOSE = "job secrets";

/** See S134. */
export function sealJobSecrets(secrets: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> | null {
  return Object.keys(secrets).length > 0 ? seal(PURPOSE, JSON.stringify(secrets)) : null;
}

export function unsealJobSecrets(sealed: Uint8Array | null): Record<string, string> {
  return sealed ? (JSON.parse(unseal(PURPOSE, sealed)) as Record<string, string>) : {};
}
