import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { secretKeys } from "../env.ts";
import { isEqualInConstantTime } from "./token.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const cache = new Map<string, Buffer>();

export type SealPurpose =
  | "identity provider"
  | "inference provider keys"
  | "job secrets"
  | "kept mail"
  | "recovery codes"
  | "refresh token"
  | "relay token"
  | "setup link"
  | "signing keys"
  | "space variable"
  | "totp"
  | "webhook secret";

/** Each purpose has a key of its own (RFC 5869), so that no use of SECRET_KEY weakens another. The current key comes first. */
export function derivedKeys(purpose: string): [Buffer, ...Buffer[]] {
  const [current, ...previous] = secretKeys();
  return [derive(purpose, current), ...previous.map((secret) => derive(purpose, secret))];
}

export const derivedKey = (purpose: string): Buffer => derivedKeys(purpose)[0];

/** Reveals nothing about the keys. The first ID is the current key's. */
export const keyIds = (): string[] => derivedKeys("key id").map((key) => key.toString("hex", 0, 8));

function derive(purpose: string, secret: string): Buffer {
  const cacheKey = `${purpose}\n${secret}`;
  let key = cache.get(cacheKey);
  if (!key) {
    key = Buffer.from(hkdfSync("sha256", secret, "", `keyhook ${purpose}`, 32));
    cache.set(cacheKey, key);
  }
  return key;
}

/** Sealed text can be opened only for the same purpose (S130). */
export function seal(purpose: SealPurpose, plain: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", derivedKey(purpose), nonce);
  return Uint8Array.from(Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]));
}

/** @throws Error if no key of this process sealed the bytes, or they were altered */
export const unseal = (purpose: SealPurpose, sealed: Uint8Array): string => open(purpose, sealed).plain;

/** @returns `isCurrent: true` if SECRET_KEY sealed the bytes, and not SECRET_KEY_PREVIOUS */
export function open(purpose: SealPurpose, sealed: Uint8Array): { plain: string; isCurrent: boolean } {
  const [current, ...previous] = derivedKeys(purpose);
  try {
    return { plain: decrypt(current, sealed), isCurrent: true };
  } catch (error) {
    for (const key of previous) {
      try {
        return { plain: decrypt(key, sealed), isCurrent: false };
      } catch {}
    }
    throw error;
  }
}

function decrypt(key: Buffer, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  // Without this length, Node accepts a tag of four bytes, which can be guessed.
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}

const mac = (key: Buffer, text: string): string => createHmac("sha256", key).update(text).digest("base64url");

export const sign = (purpose: string, text: string): string => mac(derivedKey(purpose), text);

export const isSigned = (purpose: string, text: string, signature: string): boolean =>
  derivedKeys(purpose).some((key) => isEqualInConstantTime(signature, mac(key, text)));
