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

/**
 * An id whose order is that of time: 4 bytes of seconds, 2 of the fraction of a second, 6 random. For what is partitioned by its id and
 * listed by it (deliveries and attempts).
 */
export function newOrderedId(at = Date.now()): string {
  const fraction = Math.floor(((at % 1000) / 1000) * 0x10000);
  const time =
    Math.floor(at / 1000)
      .toString(16)
      .padStart(8, "0") + fraction.toString(16).padStart(4, "0");
  return time + newId().slice(-12);
}

/** The first id, of either kind, that can have been made at a time: what a range of time is as a range of ids. */
export function firstIdAt(at: Date): string {
  return newOrderedId(at.getTime()).slice(0, 12).padEnd(24, "0");
}

const ID = /^[0-9a-f]{24}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}

/** When an ordered id was made, to a sixty-thousandth of a second. */
export function timeOfOrderedId(id: string): Date {
  const seconds = Number.parseInt(id.slice(0, 8), 16);
  return new Date(seconds * 1000 + (Number.parseInt(id.slice(8, 12), 16) * 1000) / 0x10000);
}
