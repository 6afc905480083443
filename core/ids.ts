import { randomFillSync } from "node:crypto";

const RANDOM_BYTES = 8;
// Random bytes for 512 IDs take as long to generate as for one.
const drawn = Buffer.alloc(512 * RANDOM_BYTES);
let used = drawn.length;

/** An ID is 24 hex digits: 4 bytes of time in seconds, and 8 random bytes. */
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

const STEPS_PER_SECOND = 0x10000;
let lastStep = 0;

/** In one process, IDs sort in the order of calls. An ID is 4 bytes of seconds, 2 of the fraction, and 6 random. */
export function newOrderedId(at?: number): string {
  const step = Math.floor(((at ?? Date.now()) * STEPS_PER_SECOND) / 1000);
  if (at !== undefined) return orderedIdOf(step);
  lastStep = Math.max(step, lastStep + 1);
  return orderedIdOf(lastStep);
}

/**
 * @param step 65,536ths of a second since 1970
 * @param rest 12 hex digits
 */
export function orderedIdOf(step: number, rest = newId().slice(-12)): string {
  return step.toString(16).padStart(12, "0") + rest;
}

export function firstIdAt(at: Date): string {
  return newOrderedId(at.getTime()).slice(0, 12).padEnd(24, "0");
}

const ID = /^[0-9a-f]{24}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}

export function timeOfOrderedId(id: string): Date {
  const seconds = Number.parseInt(id.slice(0, 8), 16);
  return new Date(seconds * 1000 + (Number.parseInt(id.slice(8, 12), 16) * 1000) / 0x10000);
}
