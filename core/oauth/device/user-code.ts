import { randomInt } from "node:crypto";

/** RFC 8628 §6.1: without vowels, no code is a word (S58). */
const SYMBOLS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const TYPED_MAX_CHARACTERS = 64;

/**
 * See S58.
 * @returns undefined for text that cannot be a code
 */
export function parseUserCode(typed: string): string | undefined {
  const letters = typed
    .slice(0, TYPED_MAX_CHARACTERS)
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  return letters.length === LENGTH && Array.from(letters).every((letter) => SYMBOLS.includes(letter)) ? letters : undefined;
}

export const formatUserCode = (userCode: string): string => `${userCode.slice(0, LENGTH / 2)}-${userCode.slice(LENGTH / 2)}`;

/** Needed if the code that the engine generated is taken (S67). */
export function newUserCode(): string {
  return Array.from({ length: LENGTH }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join("");
}
