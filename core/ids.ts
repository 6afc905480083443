import { randomBytes } from "node:crypto";

/** A new id: 24 hex digits, 4 bytes of time (seconds) and 8 random, never a sequence (architecture decision 8). */
export function newId(): string {
  const id = randomBytes(12);
  id.writeUInt32BE(Math.floor(Date.now() / 1000), 0);
  return id.toString("hex");
}

const ID = /^[0-9a-f]{24}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}
