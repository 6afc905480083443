import type { RepoType } from "@keyhook/sdk";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readRepos } from "../repos/read-repos.ts";
import type { Repo } from "../repos/repo.ts";
import type { Platform } from "./platform.ts";

/** A repository that a platform holds, as it is known here. */
export type Mirrored = Repo & { externalId: string };

/** A user or an organization here. */
export type NamedOwner = Repo["owner"];

/**
 * Lets what a platform tells happen in the order in which it comes: one request of it after another, whichever process takes them.
 * @throws ServiceError `unauthorized` when it was revoked meanwhile
 */
export async function lockPlatform(tx: Db, { id }: Platform): Promise<void> {
  const live = await tx.$queryRaw<unknown[]>`SELECT 1 FROM platform WHERE id = ${id} AND revoked_at IS NULL FOR NO KEY UPDATE`;
  if (live.length === 0) throw new ServiceError("unauthorized", "Invalid credentials in Authorization header");
}

/** Those of the platform's repositories that fit; two queries, however many they are. */
export async function readMirrored(tx: Db, { id }: Platform, where: Prisma.Sql): Promise<Mirrored[]> {
  const repos = await readRepos(Prisma.sql`r.platform_id = ${id} AND (${where})`, { tx });
  const rows = await tx.repo.findMany({
    where: { id: { in: repos.map((repo) => repo.id) } },
    select: { id: true, externalId: true },
  });
  const externalIds = new Map(rows.map((row) => [row.id, row.externalId]));
  return repos.map((repo) => ({ ...repo, externalId: externalIds.get(repo.id) ?? "" }));
}

/** Whoever has these handles, held until the transaction ends; disabled users are not among them. */
export async function readOwners(tx: Db, handles: Iterable<string>): Promise<Map<string, NamedOwner>> {
  const wanted = [...new Set(handles)].filter((handle) => !handle.includes("\0") && handle.isWellFormed());
  const rows = await tx.$queryRaw<(NamedOwner & { at: string })[]>`
    SELECT h.handle AS at, CASE WHEN u.id IS NULL THEN 'organization' ELSE 'user' END AS kind,
           coalesce(u.id, o.id) AS id, coalesce(u.username, o.name) AS handle
      FROM handle h
      LEFT JOIN "user" u ON u.id = h.user_id AND u.disabled_at IS NULL
      LEFT JOIN organization o ON o.id = h.org_id
     WHERE h.handle = ANY(${wanted}) AND coalesce(u.id, o.id) IS NOT NULL
       FOR KEY SHARE OF h`;
  return new Map(rows.map(({ at, ...owner }) => [at, owner]));
}

/** Where a repository is found: no two have the same. */
export const placeOf = (ownerId: string, type: RepoType, canonical: string): string => `${ownerId}/${type}/${canonical}`;

/** Names that are taken anew lead nowhere else any more; names that are left lead to where the repository is now. */
export async function rememberNames(
  tx: Db,
  left: { repo: Mirrored }[],
  taken: { ownerId: string; type: string; canonical: string }[],
): Promise<void> {
  for (const { repo } of left) {
    const was = { ownerId: repo.owner.id, type: repo.type, nameCanonical: repo.name.toLowerCase() };
    await tx.repoFormerName.upsert({
      where: { ownerId_type_nameCanonical: was },
      create: { ...was, repoId: repo.id },
      update: { repoId: repo.id, createdAt: new Date() },
    });
  }
  if (taken.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM repo_former_name f
     USING unnest(${taken.map(({ ownerId }) => ownerId)}::text[], ${taken.map(({ type }) => type)}::text[],
                  ${taken.map(({ canonical }) => canonical)}::text[]) AS t(owner_id, type, name)
     WHERE f.owner_id = t.owner_id AND f.type = t.type AND f.name_canonical = t.name`;
}
