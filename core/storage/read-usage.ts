import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { db } from "../db.ts";
import { defaultQuota, recordsLimit, type StorageKind, type StorageOwner, storageKinds } from "./limits.ts";

export type StorageUsage = {
  bytes: Record<StorageKind, number>;
  /** A file that is stored once for several names counts several times. `bytes.lfs` is the size in storage. */
  files: { logicalBytes: number };
  proposals: { bytes: number };
  repositories: { used: number; uploading: number; quota: number | null };
  limits: Record<"relay" | "logs" | "attempts", number | null>;
  largest: LargeRepo[];
};

export type LargeRepo = { id: string; type: RepoType; name: string; isPrivate: boolean; gitBytes: number; lfsBytes: number };

const LARGEST_MAX = 10;

export async function readStorageUsage(actor: Actor, owner: StorageOwner): Promise<StorageUsage> {
  const resource = {
    ownerUserId: owner.kind === "user" ? owner.id : null,
    ownerOrgId: owner.kind === "organization" ? owner.id : null,
  };
  await requirePermission(actor, "storage.read", resource, { what: "Storage" });
  const [used, quota, [held], [files], [proposals], largest] = await Promise.all([
    db().storageUse.groupBy({ by: ["kind"], where: { ownerId: owner.id }, _sum: { bytes: true } }),
    db().storageQuota.findUnique({ where: { ownerId: owner.id } }),
    db().$queryRaw<{ bytes: number }[]>`
      SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM storage_hold
       WHERE owner_id = ${owner.id} AND expires_at > now() AND NOT is_removed`,
    db().$queryRaw<StorageUsage["files"][]>`
      SELECT coalesce(sum(o.bytes), 0)::float8 AS "logicalBytes" FROM repo r
        CROSS JOIN LATERAL (SELECT sum(size_bytes) AS bytes FROM lfs_object WHERE repo_id = r.id) o
       WHERE r.owner_id = ${owner.id} AND r.lfs_bytes > 0`,
    db().$queryRaw<StorageUsage["proposals"][]>`
      SELECT coalesce(sum(lfs_bytes), 0)::float8 AS bytes FROM repo WHERE owner_id = ${owner.id} AND proposed_to_id IS NOT NULL`,
    db().$queryRaw<LargeRepo[]>`
      SELECT id, type, name, is_private AS "isPrivate", repo_bytes(r)::float8 AS "gitBytes", lfs_bytes::float8 AS "lfsBytes" FROM repo r
       WHERE owner_id = ${owner.id} AND platform_id IS NULL AND proposed_to_id IS NULL
       ORDER BY repo_bytes(r) + lfs_bytes DESC, id LIMIT ${LARGEST_MAX}`,
  ]);
  const bytesOf = (kind: StorageKind) => Number(used.find((row) => row.kind === kind)?._sum.bytes ?? 0n);
  const bytes = Object.fromEntries(storageKinds.map((kind) => [kind, bytesOf(kind)])) as Record<StorageKind, number>;
  return {
    bytes,
    files: files ?? { logicalBytes: 0 },
    proposals: proposals ?? { bytes: 0 },
    repositories: {
      used: bytes.git + bytes.lfs,
      uploading: held?.bytes ?? 0,
      quota: quota ? (quota.bytes === null ? null : Number(quota.bytes)) : defaultQuota(owner.kind),
    },
    limits: { relay: recordsLimit("relay"), logs: recordsLimit("logs"), attempts: recordsLimit("attempts") },
    largest,
  };
}
