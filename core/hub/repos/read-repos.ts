import type { Gate, RepoType } from "@keyhook/sdk";
import { databaseCodes, LOCK_TIMEOUT } from "../../database-errors.ts";
import { type Db, db, type Sql } from "../../db.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { Repo } from "./repo.ts";

type Row = Omit<Repo, "owner" | "fullName"> & { ownerId: string; ownerKind: "user" | "organization"; ownerHandle: string };

const COLUMNS = Prisma.sql`r.id, r.type, r.owner_id AS "ownerId", r.owner_kind AS "ownerKind", coalesce(u.username, o.name) AS "ownerHandle",
  r.name, r.is_private AS "isPrivate", r.gated, r.gate_prompt AS "gatePrompt", r.sdk, r.description, r.default_branch AS "defaultBranch",
  r.head_sha AS "headSha", r.size_bytes::float8 AS "sizeBytes", r.lfs_bytes::float8 AS "lfsBytes", r.lfs_removed_at AS "lfsRemovedAt", coalesce(r.tags, '{}') AS tags, r.is_read_only AS "isReadOnly",
  r.is_default_branch_protected AS "isDefaultBranchProtected", r.has_discussions AS "hasDiscussions", r.likes, r.created_by_id AS "createdById",
  r.created_by_client_id AS "createdByClientId", r.platform_id AS "platformId", r.external_id AS "externalId", r.external_url AS "externalUrl",
  r.proposed_to_id AS "proposedToId",
  r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;

const SOURCE = Prisma.sql`repo r
  LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
  LEFT JOIN organization o ON r.owner_kind = 'organization' AND o.id = r.owner_id`;

type Reading = {
  tx?: Sql;
  tail?: Prisma.Sql;
  isOfDisabledToo?: boolean;
  /** `card` is null, because cards may be large (S137). */
  isWithoutCards?: boolean;
};

/** By default, omits repositories of disabled users. Checks no permissions. */
export async function readRepos(
  where: Prisma.Sql,
  { tx = db(), tail = Prisma.empty, isOfDisabledToo = false, isWithoutCards = false }: Reading = {},
): Promise<Repo[]> {
  const card = isWithoutCards ? Prisma.sql`NULL::jsonb` : Prisma.sql`r.card`;
  const isThere = isOfDisabledToo ? Prisma.sql`TRUE` : Prisma.sql`u.disabled_at IS NULL`;
  const rows = await tx.$queryRaw<
    Row[]
  >`SELECT ${COLUMNS}, ${card} AS card FROM ${SOURCE} WHERE ${isThere} AND (${where}) ${tail}`;
  return rows.map(toRepo);
}

/** Takes as many statements for an absent name as for a hidden one (S136). `owner` and `name` are in lower case. */
export async function readRepoByName(
  { type, owner, name }: { type: RepoType; owner: string; name: string },
  tx: Db,
): Promise<{ repo: Repo | undefined; orgId: string | null }> {
  const named = Prisma.sql`owner_id = (SELECT coalesce(user_id, org_id) FROM handle WHERE handle = ${owner}) AND type = ${type} AND name_canonical = ${name}`;
  const [row] = await tx.$queryRaw<((Row | Record<keyof Row, null>) & { orgId: string | null })[]>`
    SELECT h.org_id AS "orgId", ${COLUMNS}, r.card FROM handle h
      LEFT JOIN (${SOURCE}) ON u.disabled_at IS NULL
        AND r.id = coalesce((SELECT id FROM repo WHERE ${named}), (SELECT repo_id FROM repo_former_name WHERE ${named}))
     WHERE h.handle = ${owner}`;
  if (!row) return { repo: undefined, orgId: null };
  const { orgId, ...found } = row;
  return { repo: found.id === null ? undefined : toRepo(found as Row), orgId };
}

/** @returns undefined if there is no such repository or its owner is disabled */
export async function readRepo(id: string, tx: Db = db()): Promise<Repo | undefined> {
  const [repo] = await readRepos(Prisma.sql`r.id = ${id}`, { tx });
  return repo;
}

/** Locks the row until the transaction ends. The wait holds one of few connections, so it is short (S137). */
export async function lockRepo(tx: Db, id: string): Promise<Repo | undefined> {
  await tx.$executeRaw`SET LOCAL lock_timeout = '2s'`;
  try {
    const [repo] = await readRepos(Prisma.sql`r.id = ${id}`, { tx, tail: Prisma.sql`FOR UPDATE OF r` });
    return repo;
  } catch (error) {
    if (!databaseCodes(error).includes(LOCK_TIMEOUT)) throw error;
    throw new ServiceError("unavailable", "Others are changing this repository. Try again in a few seconds.", {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
}

export const isLockedByOthers = (error: unknown): boolean =>
  isServiceError(error) ? error.code === "unavailable" : databaseCodes(error).includes(LOCK_TIMEOUT);

function toRepo({ ownerId, ownerKind, ownerHandle, ...row }: Row): Repo {
  return {
    ...row,
    type: row.type as RepoType,
    gated: row.gated as Gate,
    owner: { kind: ownerKind, id: ownerId, handle: ownerHandle },
    fullName: `${ownerHandle}/${row.name}`,
  };
}
