import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const TOKEN_BYTES = 32;

/** The token has 256 bits in `[A-Za-z0-9_-]`, after an optional recognizable prefix (S55). */
export function newToken(prefix = ""): string {
  return prefix + randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Tokens have 256 random bits, so one plain SHA-256 cannot be reversed by search. */
export function hashToken(token: string): string {
  return hash("sha256", token, "base64url");
}

/** Takes the same time, whatever the lengths of the texts (S41). */
export function isEqualInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"));
}
