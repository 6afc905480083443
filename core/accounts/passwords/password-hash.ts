import { hash, parseOptions, verify } from "@node-rs/argon2";
import { newToken } from "../../crypto/token.ts";

/**
 * argon2id with the parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two passes, one lane. Raise them here; each
 * password is hashed anew when its owner next signs in.
 */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export async function hashPassword(password: string): Promise<string> {
  return hash(normalized(password), ARGON2);
}

let decoy: Promise<string> | undefined;

/**
 * Whether the password is the one that was hashed. Without a hash (no such account, or one that has no password) the same work
 * is done against a decoy, so that the time does not tell (S115).
 */
export async function verifyPassword(passwordHash: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword(newToken());
  const decoyHash = await decoy;
  const isRight = await verify(passwordHash || decoyHash, normalized(password));
  return isRight && Boolean(passwordHash);
}

/** Whether a stored hash was made with other parameters than today's. */
export function isOutdatedHash(passwordHash: string): boolean {
  const { memoryCost, timeCost, parallelism } = parseOptions(passwordHash);
  return memoryCost !== ARGON2.memoryCost || timeCost !== ARGON2.timeCost || parallelism !== ARGON2.parallelism;
}

/** One password typed on two keyboards is the same one (NIST SP 800-63B §5.1.1.2 asks for NFKC or NFKD). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
