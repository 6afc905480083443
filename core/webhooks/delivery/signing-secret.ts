import { createSecretKey, type KeyObject } from "node:crypto";
import { unseal } from "../../crypto/seal.ts";

export type SigningSecret = { text: string; key: KeyObject };

/** Few secrets are used for many deliveries: this many are kept unsealed. */
const KEPT_MAX = 1_000;
const kept = new Map<string, SigningSecret>();

/** A webhook's secret and the key that signs with it. */
export function signingSecret(sealed: Buffer): SigningSecret {
  const name = sealed.toString("latin1");
  let secret = kept.get(name);
  if (!secret) {
    const text = unseal("webhook secret", sealed);
    secret = { text, key: createSecretKey(keyOf(text)) };
    kept.set(name, secret);
    const [first] = kept.keys();
    if (kept.size > KEPT_MAX && first !== undefined) kept.delete(first);
  }
  return secret;
}

/** A secret in the form of Standard Webhooks encodes its bytes; any other is used as its UTF-8 bytes. */
export function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? undefined : Buffer.from(encoded, "base64");
  return key && key.length > 0 ? key : Buffer.from(secret, "utf8");
}
