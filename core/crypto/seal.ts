import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { secretKey } from "../env.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const keys = new Map<string, Buffer>();

/** A separate key for each purpose (RFC 5869), so that one use of SECRET_KEY never weakens another. */
export function derivedKey(purpose: string): Buffer {
  const secret = secretKey();
  const cacheKey = `${purpose}\n${secret}`;
  let key = keys.get(cacheKey);
  if (!key) {
    key = Buffer.from(hkdfSync("sha256", secret, "", `keyhook ${purpose}`, 32));
    keys.set(cacheKey, key);
  }
  return key;
}

/** Encrypts with AES-256-GCM under SECRET_KEY; the purpose is authenticated with it (S130). */
export function seal(purpose: string, plain: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", derivedKey(purpose), nonce);
  return Uint8Array.from(Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]));
}

/** Reverses `seal`; throws if SECRET_KEY has changed or the bytes were altered. */
export function unseal(purpose: string, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  // Without this length Node accepts a tag of four bytes, which can be guessed.
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv("aes-256-gcm", derivedKey(purpose), bytes.subarray(0, NONCE_BYTES), options);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}
