import { hashToken, isEqualInConstantTime } from "#core/crypto/token.ts";
import type { StoredSecret } from "./client-extension.ts";

export const isLiveSecret = ({ expiresAt }: StoredSecret): boolean => expiresAt === null || expiresAt > Date.now();

/** The live secret that equals `presented`. All are compared, so that timing reveals nothing (S41). */
export function findClientSecret(secrets: readonly StoredSecret[], presented: string): StoredSecret | undefined {
  const hash = hashToken(presented);
  let match: StoredSecret | undefined;
  for (const secret of secrets) {
    if (isEqualInConstantTime(secret.hash, hash) && isLiveSecret(secret)) match = secret;
  }
  return match;
}
