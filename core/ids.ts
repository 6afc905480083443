import { randomFillSync } from "node:crypto";

const RANDOM_BYTES = 8;
// Asking the system for random bytes costs the same for eight as for four thousand, and every request has an id.
const drawn = Buffer.alloc(512 * RANDOM_BYTES);
let used = drawn.length;

/** A new id: 24 hex digits, 4 bytes of time (seconds) and 8 random, never a sequence (architecture decision 8). */
export function newId(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const seconds = Math.floor(Date.now() / 1000)
    .toString(16)
    .padStart(8, "0");
  used += RANDOM_BYTES;
  return seconds + drawn.toString("hex", used - RANDOM_BYTES, used);
}

const ID = /^[0-9a-f]{24}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}
