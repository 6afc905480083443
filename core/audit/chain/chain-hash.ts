import { createHash } from "node:crypto";

export type AuditEntry = {
  id: string;
  type: string;
  actorId: string | null;
  orgId: string | null;
  clientId: string | null;
  subjectId: string | null;
  data: unknown;
  ip: string | null;
  userAgent: string | null;
  token: unknown;
  createdAt: Date;
};

export type AuditSeal = {
  seq: bigint;
  eventId: string;
  eventCreatedAt: Date;
  contentHash: Buffer;
  previousHash: Buffer;
};

export const FIRST_PREVIOUS_HASH = Buffer.alloc(32);

export const ENTRY_COLUMNS = `e.id, e.type, e.actor_id AS "actorId", e.org_id AS "orgId", e.client_id AS "clientId",
  e.subject_id AS "subjectId", e.data, e.ip, e.user_agent AS "userAgent", e.token, e.created_at AS "createdAt"`;

export function hashEntry(entry: AuditEntry): Buffer {
  const { id, type, actorId, orgId, clientId, subjectId, data, ip, userAgent, token, createdAt } = entry;
  return sha256({ id, type, actorId, orgId, clientId, subjectId, data, ip, userAgent, token, createdAt });
}

/** A seal contains the entry's hash, so that the chain outlives the contents of old entries. */
export function hashSeal({ seq, eventId, eventCreatedAt, contentHash, previousHash }: AuditSeal): Buffer {
  const hashes = { contentHash: contentHash.toString("hex"), previousHash: previousHash.toString("hex") };
  return sha256({ seq: seq.toString(), eventId, eventCreatedAt, ...hashes });
}

const sha256 = (value: object): Buffer => createHash("sha256").update(canonicalJson(value)).digest();

/** RFC 8785: no whitespace, keys in the order of their UTF-16 code units. */
export function canonicalJson(value: unknown): string {
  if (value instanceof Date) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`);
  return `{${members.join(",")}}`;
}
