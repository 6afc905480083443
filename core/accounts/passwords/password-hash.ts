import { hash, parseOptions, verify } from "@node-rs/argon2";
import { newToken } from "../../crypto/token.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";

/**
 * argon2id with the parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two passes, one lane. Raise them here; each
 * password is hashed anew when its owner next signs in.
 */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Half of libuv's threads, of which files and names are waiting too: right passwords count against no limit, so that a few accounts
 * could keep all of them busy. One party has one place at a time. Nearly everybody here is not signed in yet, and is an address.
 */
const places = fairQueue({ name: "passwords", places: 2, anonymousShare: 1, waitingMax: 256, waitMaxMs: 20_000 });

/** @throws ServiceError `unavailable` when many others wait */
export async function hashPassword(password: string): Promise<string> {
  return places.run(() => hash(normalized(password), ARGON2));
}

let decoy: Promise<string> | undefined;

/**
 * Whether the password is the one that was hashed. Without a hash (no such account, or one that has no password) the same work
 * is done against a decoy, so that the time does not tell (S115).
 * @param within what the attempt is for, as it was typed. Attempts of one address take turns by it, so that nobody waits behind a
 * stranger's attempts from the same network. It must not depend on whether there is such an account.
 * @throws ServiceError `unavailable` when many others wait
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
  within: string,
): Promise<boolean> {
  // In no place, and so never refused: it is made once.
  decoy ??= hash(newToken(), ARGON2);
  const decoyHash = await decoy;
  const isRight = await places.run(() => verify(passwordHash || decoyHash, normalized(password)), { within });
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
