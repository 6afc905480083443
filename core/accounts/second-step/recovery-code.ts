import { createHmac, randomInt } from "node:crypto";
import { hashRaw } from "@node-rs/argon2";
import { derivedKey } from "../../crypto/seal.ts";

export const RECOVERY_CODES = 10;

// Digits and letters that are not confused with each other: 32 signs, 5 bits each.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CODE_CHARACTERS = 10;

/** `xxxxx-xxxxx`: 50 random bits, for users who have lost the second step. */
export function newRecoveryCode(): string {
  const code = Array.from({ length: CODE_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${code.slice(0, 5)}-${code.slice(5)}`;
}

/**
 * The stored form of a code. 50 bits could be searched, so it is hashed like a password (ASVS 6.5.2), with a salt for each user
 * that depends on SECRET_KEY: one hash finds the code among ten, and a copy of the database alone reveals none.
 */
export async function hashRecoveryCode(userId: string, code: string): Promise<string> {
  const salt = createHmac("sha256", derivedKey("recovery-codes")).update(userId).digest().subarray(0, 16);
  const hash = await hashRaw(asWritten(code), { memoryCost: 19_456, timeCost: 2, parallelism: 1, salt });
  return hash.toString("base64url");
}

/** Normalizes a code as typed: ignores case, hyphens and spaces, and reads letters as the digits that they look like. */
function asWritten(code: string): string {
  return code.slice(0, 100).toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1").replaceAll("u", "v");
}
