/** First and last byte, both included. */
export type ByteRange = { start: number; end: number };

/**
 * The part of something of `size` bytes that a `Range` header asks for (RFC 9110 §14). Undefined when all of it is to be sent: there
 * is no such header, or it is one that we need not understand, as for several ranges; "unsatisfiable" when nothing is there.
 */
export function readRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const [start, end] = [Number(first), last === "" ? Number.POSITIVE_INFINITY : Number(last)];
  if (end < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size - 1) };
}
