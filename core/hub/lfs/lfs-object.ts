/** A file stored outside git, identified by the SHA-256 of its content (64 hex digits) and its size. */
export type LfsObjectId = { oid: string; size: number };

const OID = /^[0-9a-f]{64}$/;

export function isLfsOid(value: unknown): value is string {
  return typeof value === "string" && OID.test(value);
}

export function isLfsSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The least that counts for an object, however small its content is: it also uses a block of the disk, the entry of a directory, and rows
 * of the database. Migration 20261127150000 has the same number.
 */
const COUNTED_MIN_BYTES = 5_000;

/** How many bytes a file of Git LFS, or a xorb, counts in its owner's storage. */
export const countedBytes = (size: number): number => Math.max(size, COUNTED_MIN_BYTES);

/** The SHA-256 in S3's encoding. */
export const base64OfOid = (oid: string): string => Buffer.from(oid, "hex").toString("base64");
