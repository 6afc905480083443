/** Bytes as base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/={0,2}$/, "");
}

/** @throws where `text` is no base64url */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text)) throw new TypeError("not base64url");
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}

/** 256 bits that nobody guesses, in 43 characters: a state, a nonce, a code verifier (RFC 7636 §4.1). */
export const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
