/** A file stored outside git, identified by the SHA-256 of its content (64 hex digits) and its size. */
export type LfsObjectId = { oid: string; size: number };

const OID = /^[0-9a-f]{64}$/;

export function isLfsOid(value: unknown): value is string {
  return typeof value === "string" && OID.test(value);
}

export function isLfsSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The SHA-256 in S3's encoding. */
export const base64OfOid = (oid: string): string => Buffer.from(oid, "hex").toString("base64");
