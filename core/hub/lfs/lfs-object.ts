/** The content's SHA-256 in 64 hex digits, and its size in bytes. */
export type LfsObjectId = { oid: string; size: number };

const OID = /^[0-9a-f]{64}$/;

export function isLfsOid(value: unknown): value is string {
  return typeof value === "string" && OID.test(value);
}

export function isLfsSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const EMPTY_OID = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Nothing is reserved for empty files, so false announcements could fill the database beyond every quota (S137). */
export const canExist = ({ oid, size }: LfsObjectId): boolean => size > 0 || oid === EMPTY_OID;

/** An object counts at least this much, for its rows in the database. Migration 20261127150000 has the same number. */
const COUNTED_MIN_BYTES = 5_000;

export const countedBytes = (size: number): number => Math.max(size, COUNTED_MIN_BYTES);

export const base64OfOid = (oid: string): string => Buffer.from(oid, "hex").toString("base64");
