import type { Db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import type { EventData, RepoReference } from "./event-data.ts";
import type { PayloadContext } from "./event-payload.ts";
import { type Mirrored, type NamedOwner, placeOf, readMirrored, rememberNames } from "./mirror.ts";
import { type MirroredRepo, mirroredRepoSchema, refusalOf, splitName } from "./mirrored-repo.ts";
import type { Platform } from "./platform.ts";

/** What a platform's repositories are while its events are taken, one after another, in one transaction. */
export type Mirror = {
  platform: Platform;
  owners: Map<string, NamedOwner>;
  repos: Mirrored[];
  /** Whose row differs from what `repos` says, and is written when all events are read. */
  changed: Set<Mirrored>;
};

/**
 * Lets an event do to the row what it says happened to the repository, and says of what repository it is. Content and settings are
 * noted, and written once for all events of a request; what another one could stand in the way of is done at once.
 * @throws ServiceError `not_found` for a repository that the platform has not told of, `conflict`, `invalid_request`
 */
export async function applyEvent(tx: Db, mirror: Mirror, data: EventData): Promise<Pick<PayloadContext, "repo" | "movedTo">> {
  if (data.kind === "repo create") return { repo: await create(tx, mirror, parseCreated(data)) };
  const repo = find(mirror, data.repo);
  if (!repo) throw notFound("Repository");
  switch (data.kind) {
    case "repo delete":
      await tx.repo.delete({ where: { id: repo.id } });
      mirror.repos.splice(mirror.repos.indexOf(repo), 1);
      mirror.changed.delete(repo);
      return { repo };
    case "repo move":
      return move(tx, mirror, repo, data.movedTo.name);
    case "repo.content update": {
      const head = data.updatedRefs.findLast(({ ref }) => ref === `refs/heads/${repo.defaultBranch}`);
      if (head) repo.headSha = head.newSha;
      if (data.repo.headSha !== undefined) repo.headSha = data.repo.headSha;
      repo.updatedAt = new Date();
      mirror.changed.add(repo);
      return { repo: { ...repo } };
    }
    case "repo.config update": {
      const { private: isPrivate, description, defaultBranch } = data.updatedConfig;
      if (isPrivate !== undefined) repo.isPrivate = isPrivate;
      if (description !== undefined) repo.description = description || null;
      if (defaultBranch !== undefined) repo.defaultBranch = defaultBranch;
      mirror.changed.add(repo);
      return { repo: { ...repo } };
    }
    default:
      return { repo };
  }
}

function find({ repos }: Mirror, { id, externalId, type, name }: RepoReference): Mirrored | undefined {
  if (id !== undefined) return repos.find((repo) => repo.id === id);
  if (externalId !== undefined) return repos.find((repo) => repo.externalId === externalId);
  return repos.find((repo) => repo.type === type && repo.fullName.toLowerCase() === name?.toLowerCase());
}

/** A new repository is told of as by a synchronisation, with `externalId` for its id. */
export function parseCreated({ repo }: EventData<"repo create">): MirroredRepo {
  const url = typeof repo.url === "object" && repo.url !== null ? (repo.url as { web?: unknown }).web : repo.url;
  const parsed = mirroredRepoSchema.safeParse({ ...repo, id: repo.externalId, url });
  if (!parsed.success) throw refusalOf(parsed.error, "data.repo");
  return parsed.data;
}

/** One that was told of before stays as it is. */
async function create(tx: Db, mirror: Mirror, told: MirroredRepo): Promise<Mirrored> {
  const { platform, owners, repos } = mirror;
  const known = repos.find(({ externalId }) => externalId === told.id);
  if (known) return known;
  const { handle, spelled, canonical } = splitName(told.name);
  const owner = owners.get(handle);
  if (!owner) throw notFound("Owner");
  const { count } = await tx.repo.createMany({
    data: [
      {
        id: newId(),
        type: told.type,
        ownerId: owner.id,
        ownerKind: owner.kind,
        name: spelled,
        nameCanonical: canonical,
        isPrivate: told.private,
        description: told.description ?? null,
        tags: told.tags ?? [],
        headSha: told.headSha ?? null,
        ...(told.defaultBranch && { defaultBranch: told.defaultBranch }),
        // Discussions are where the repository is.
        hasDiscussions: false,
        platformId: platform.id,
        externalId: told.id,
        externalUrl: told.url,
      },
    ],
    skipDuplicates: true,
  });
  if (count === 0) throw taken(told.name, "data.repo.name");
  await rememberNames(tx, [], [{ ownerId: owner.id, type: told.type, canonical }]);
  const [made] = await readMirrored(tx, platform, Prisma.sql`r.external_id = ${told.id}`);
  if (!made) throw notFound("Owner");
  repos.push(made);
  return made;
}

async function move(tx: Db, mirror: Mirror, repo: Mirrored, to: string): Promise<Pick<PayloadContext, "repo" | "movedTo">> {
  const { handle, spelled, canonical } = splitName(to);
  const owner = mirror.owners.get(handle);
  if (!owner) throw notFound("Owner");
  const movedTo = { name: `${owner.handle}/${spelled}`, owner: { id: owner.id } };
  const before = { ...repo };
  // Whoever makes one of this name at the same moment waits, or is found.
  await tx.$executeRaw`SAVEPOINT move`;
  try {
    await tx.repo.update({
      where: { id: repo.id },
      data: { ownerId: owner.id, ownerKind: owner.kind, name: spelled, nameCanonical: canonical },
    });
  } catch (error) {
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT move`;
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002") throw taken(to, "data.movedTo.name");
    throw error;
  }
  const isElsewhere = placeOf(owner.id, repo.type, canonical) !== placeOf(before.owner.id, repo.type, before.name.toLowerCase());
  await rememberNames(tx, isElsewhere ? [{ repo: before }] : [], [{ ownerId: owner.id, type: repo.type, canonical }]);
  Object.assign(repo, { owner, name: spelled, fullName: movedTo.name });
  return { repo: before, movedTo };
}

const taken = (name: string, field: string) =>
  new ServiceError("conflict", `${field}: ${name} is another repository here.`, { field });

/** Writes what content and settings became, in one statement. */
export async function writeChanges(tx: Db, { changed }: Mirror): Promise<void> {
  if (changed.size === 0) return;
  const rows = [...changed].map(({ id, isPrivate, description, defaultBranch, headSha, updatedAt }) => ({
    ...{ id, description, is_private: isPrivate, default_branch: defaultBranch, head_sha: headSha, updated_at: updatedAt },
  }));
  await tx.$executeRaw`
    UPDATE repo r SET is_private = n.is_private, description = n.description, default_branch = n.default_branch,
           head_sha = n.head_sha, updated_at = n.updated_at
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS n(id text, is_private boolean, description text, default_branch text, head_sha text, updated_at timestamptz)
     WHERE r.id = n.id`;
}
