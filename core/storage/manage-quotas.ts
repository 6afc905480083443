import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { findOwner } from "../accounts/handles/find-owner.ts";
import { type Page, type PageRequest, pageBounds } from "../accounts/page.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { db } from "../db.ts";
import { invalidRequest, notFound } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { readableSize } from "../readable-size.ts";
import { defaultQuota, type StorageKind, type StorageOwner } from "./limits.ts";

export type StoringOwner = StorageOwner & {
  fullName: string;
  avatarId: string | null;
  bytes: Record<StorageKind, number>;
  total: number;
  quota: number | null;
  isQuotaSet: boolean;
};

type Row = Omit<StoringOwner, "bytes" | "quota"> & { setQuota: number | null } & Record<StorageKind, number>;

export async function listStoringOwners(
  actor: Actor,
  { text = "", kind, id, ...request }: PageRequest & { text?: string; kind?: StorageOwner["kind"] | undefined; id?: string } = {},
): Promise<Page<StoringOwner>> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const words = text.replaceAll("\0", "").trim().toWellFormed().toLowerCase();
  const isNamed = words
    ? Prisma.sql`lower(o.handle || ' ' || o.full_name) LIKE ${`%${words.replace(/[\\%_]/g, "\\$&")}%`}`
    : Prisma.sql`(s.owner_id IS NOT NULL OR q.owner_id IS NOT NULL)`;
  const isMatch = id === undefined ? isNamed : Prisma.sql`o.id = ${id}`;
  const isKind = kind ? Prisma.sql`o.kind = ${kind}` : Prisma.sql`TRUE`;
  const source = Prisma.sql`
    (SELECT 'user' AS kind, id, username AS handle, full_name, avatar_id FROM "user"
     UNION ALL SELECT 'organization', id, name, full_name, avatar_id FROM organization) o
    LEFT JOIN (SELECT owner_id, sum(bytes) AS total, ${sums} FROM storage_use GROUP BY owner_id) s ON s.owner_id = o.id
    LEFT JOIN storage_quota q ON q.owner_id = o.id
    WHERE ${isMatch} AND ${isKind}`;
  const [counted, rows] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM ${source}`,
    db().$queryRaw<Row[]>`
      SELECT o.kind, o.id, o.handle, o.full_name AS "fullName", o.avatar_id AS "avatarId", coalesce(s.total, 0)::float8 AS total,
             ${columns}, q.owner_id IS NOT NULL AS "isQuotaSet", q.bytes::float8 AS "setQuota"
        FROM ${source} ORDER BY coalesce(s.total, 0) DESC, o.id LIMIT ${take} OFFSET ${skip}`,
  ]);
  return { items: rows.map(toOwner), page, pageSize, total: counted[0]?.total ?? 0 };
}

const sums = Prisma.raw(
  ["git", "lfs", "relay", "logs", "attempts"].map((kind) => `sum(bytes) FILTER (WHERE kind = '${kind}') AS ${kind}`).join(", "),
);
const columns = Prisma.raw(
  ["git", "lfs", "relay", "logs", "attempts"].map((kind) => `coalesce(s.${kind}, 0)::float8 AS ${kind}`).join(", "),
);

function toOwner({ git, lfs, relay, logs, attempts, setQuota, ...row }: Row): StoringOwner {
  const quota = row.isQuotaSet ? setQuota : defaultQuota(row.kind);
  return { ...row, bytes: { git, lfs, relay, logs, attempts }, quota };
}

export async function findStoringOwner(actor: Actor, handle: string): Promise<StoringOwner> {
  const owner = await findOwner(handle);
  const [found] = (await listStoringOwners(actor, { id: owner?.id ?? "" })).items;
  if (!found) throw notFound("Owner");
  return found;
}

const UNITS: Readonly<Record<string, number>> = { mb: 1e6, gb: 1e9, tb: 1e12 };
const QUOTA_MAX = 1e15;

/**
 * @param text `default`, `none` or a size such as `200 GB`
 * @returns undefined for the default, null for no limit
 */
export function parseQuota(text: string): number | null | undefined {
  const word = text.trim().toLowerCase();
  if (word === "default") return undefined;
  if (word === "none") return null;
  const [, number = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)\s*(mb|gb|tb)$/.exec(word) ?? [];
  const bytes = Math.round(Number(number) * (UNITS[unit] ?? 0));
  if (!unit || bytes > QUOTA_MAX) {
    throw invalidRequest("Enter a size up to 1,000 TB, such as 200 GB; none for no limit; or default.", "quota");
  }
  return bytes;
}

/**
 * Deletes nothing, even if more is stored.
 * @param quota in the form that `parseQuota` reads
 */
export async function setStorageQuota(actor: Actor, handle: string, quota: string, from: RequestOrigin): Promise<number | null> {
  const bytes = parseQuota(quota);
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const owner = await findOwner(handle, tx);
    if (!owner) throw notFound("Owner");
    const change = { bytes: bytes ?? null, updatedAt: new Date() };
    if (bytes === undefined) await tx.storageQuota.deleteMany({ where: { ownerId: owner.id } });
    else await tx.storageQuota.upsert({ where: { ownerId: owner.id }, create: { ownerId: owner.id, ...change }, update: change });
    await recordAuditEvent(tx, {
      type: "storage_quota.set",
      actor,
      owner,
      subjectId: owner.kind === "user" ? owner.id : null,
      data: {
        owner: owner.handle,
        quota: bytes === undefined ? "the default" : bytes === null ? "no limit" : readableSize(bytes),
      },
      from,
    });
    return bytes === undefined ? defaultQuota(owner.kind) : bytes;
  });
}
