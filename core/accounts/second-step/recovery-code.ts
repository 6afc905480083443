import { createHmac, randomInt } from "node:crypto";
import { hashRaw } from "@node-rs/argon2";
import { derivedKey } from "../../crypto/seal.ts";

export const RECOVERY_CODES = 10;

// Digits and letters that are not taken for one another: 32 signs, 5 bits each.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CODE_CHARACTERS = 10;

/** `xxxxx-xxxxx`: 50 random bits, for whoever has lost the second step. */
export function newRecoveryCode(): string {
  const code = Array.from({ length: CODE_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${code.slice(0, 5)}-${code.slice(5)}`;
}

/**
 * What is stored of a code. 50 bits could be searched through, so it is hashed as a password is (ASVS 6.5.2), under a salt that each
 * user has and that only SECRET_KEY gives: one hash finds the code among ten, and a copy of the database alone gives none away.
 */
export async function hashRecoveryCode(userId: string, code: string): Promise<string> {
  const salt = createHmac("sha256", derivedKey("recovery-codes")).update(userId).digest().subarray(0, 16);
  const hash = await hashRaw(asWritten(code), { memoryCost: 19_456, timeCost: 2, parallelism: 1, salt });
  return hash.toString("base64url");
}

/** As it was written down: without case, hyphens and spaces, and with letters read as the digits that they look like. */
function asWritten(code: string): string {
  return code.slice(0, 100).toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1").replaceAll("u", "v");
}
