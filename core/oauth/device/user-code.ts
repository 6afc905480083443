import { randomInt } from "node:crypto";

/** RFC 8628 §6.1: consonants without look-alikes, so that no code reads as a word. Twenty of them, eight times: 34.5 bits (S58). */
const SYMBOLS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const TYPED_MAX_CHARACTERS = 64;

/**
 * A user code as it is stored, from whatever a person typed: case, hyphens and spaces do not count (S58).
 * @returns undefined for what cannot be a code.
 */
export function parseUserCode(typed: string): string | undefined {
  const letters = typed
    .slice(0, TYPED_MAX_CHARACTERS)
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  return letters.length === LENGTH && Array.from(letters).every((letter) => SYMBOLS.includes(letter)) ? letters : undefined;
}

/** As people read it: `BCDF-GHJK`. */
export const formatUserCode = (userCode: string): string => `${userCode.slice(0, LENGTH / 2)}-${userCode.slice(LENGTH / 2)}`;

/** Another code, for when the engine has drawn one that is taken (S67). */
export function newUserCode(): string {
  return Array.from({ length: LENGTH }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join("");
}
