import { databaseCodes, UNIQUE_VIOLATION } from "../../database-errors.ts";
import type { Sql } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { EventData, RepoReference } from "./event-data.ts";
import type { PayloadContext } from "./event-payload.ts";
import {
  type DescribedRepo,
  describedRepoSchema,
  insertRepos,
  type Mirrored,
  type NamedOwner,
  readMirrored,
  refusalOf,
  rememberNames,
  repoKey,
  splitName,
} from "./mirror.ts";
import type { Platform } from "./platform.ts";

/** Two indexes contain this time, and a new value makes PostgreSQL write all indexes of the table. */
const UPDATED_AT_RESOLUTION_MS = 1_000;

export type Mirror = {
  platform: Platform;
  owners: Map<string, NamedOwner>;
  repos: Mirrored[];
  changed: Set<Mirrored>;
};

export async function applyEvent(tx: Sql, mirror: Mirror, data: EventData): Promise<Pick<PayloadContext, "repo" | "movedTo">> {
  if (data.kind === "repo create") return { repo: await create(tx, mirror, parseCreated(data)) };
  const repo = find(mirror, data.repo);
  if (!repo) throw notFound("Repository");
  switch (data.kind) {
    case "repo delete":
      await tx.$executeRaw`DELETE FROM repo WHERE id = ${repo.id}`;
      mirror.repos.splice(mirror.repos.indexOf(repo), 1);
      mirror.changed.delete(repo);
      return { repo };
    case "repo move":
      return move(tx, mirror, repo, data.movedTo.name);
    case "repo.content update": {
      const head = data.updatedRefs.findLast(({ ref }) => ref === `refs/heads/${repo.defaultBranch}`);
      if (head) repo.headSha = head.newSha;
      if (data.repo.headSha !== undefined) repo.headSha = data.repo.headSha;
      if (Date.now() - repo.updatedAt.getTime() >= UPDATED_AT_RESOLUTION_MS) repo.updatedAt = new Date();
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

function parseCreated({ repo }: EventData<"repo create">): DescribedRepo {
  const url = typeof repo.url === "object" && repo.url !== null ? (repo.url as { web?: unknown }).web : repo.url;
  const parsed = describedRepoSchema.safeParse({ ...repo, id: repo.externalId, url });
  if (!parsed.success) throw refusalOf(parsed.error, "data.repo");
  return parsed.data;
}

async function create(tx: Sql, mirror: Mirror, described: DescribedRepo): Promise<Mirrored> {
  const { platform, owners, repos } = mirror;
  const known = repos.find(({ externalId }) => externalId === described.id);
  if (known) return known;
  const { handle, canonical } = splitName(described.name);
  const owner = owners.get(handle);
  if (!owner) throw notFound("Owner");
  if ((await insertRepos(tx, platform, [{ owner, described }])) === 0) throw taken(described.name, "data.repo.name");
  await rememberNames(tx, [], [{ ownerId: owner.id, type: described.type, canonical }]);
  const [made] = await readMirrored(tx, Prisma.sql`r.platform_id = ${platform.id} AND r.external_id = ${described.id}`);
  if (!made) throw notFound("Owner");
  repos.push(made);
  return made;
}

async function move(tx: Sql, mirror: Mirror, repo: Mirrored, to: string): Promise<Pick<PayloadContext, "repo" | "movedTo">> {
  const { handle, spelled, canonical } = splitName(to);
  const owner = mirror.owners.get(handle);
  if (!owner) throw notFound("Owner");
  const movedTo = { name: `${owner.handle}/${spelled}`, owner: { id: owner.id } };
  const before = { ...repo };
  // The unique index finds a conflict with a simultaneous change to this name.
  await tx.$executeRaw`SAVEPOINT move`;
  try {
    await tx.$executeRaw`
      UPDATE repo SET owner_id = ${owner.id}, owner_kind = ${owner.kind}, name = ${spelled}, name_canonical = ${canonical} WHERE id = ${repo.id}`;
  } catch (error) {
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT move`;
    if (databaseCodes(error).includes(UNIQUE_VIOLATION)) throw taken(to, "data.movedTo.name");
    throw error;
  }
  const isElsewhere = repoKey(owner.id, repo.type, canonical) !== repoKey(before.owner.id, repo.type, before.name.toLowerCase());
  await rememberNames(tx, isElsewhere ? [before] : [], [{ ownerId: owner.id, type: repo.type, canonical }]);
  Object.assign(repo, { owner, name: spelled, fullName: movedTo.name });
  return { repo: before, movedTo };
}

const taken = (name: string, field: string) => conflict(`${field}: ${name} is already the name of another repository.`, field);

export async function writeChanges(tx: Sql, changed: readonly Mirrored[]): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map(({ id, isPrivate, description, defaultBranch, headSha, updatedAt }) => ({
    ...{ id, description, is_private: isPrivate, default_branch: defaultBranch, head_sha: headSha, updated_at: updatedAt },
  }));
  await tx.$executeRaw`
    UPDATE repo r SET is_private = n.is_private, description = n.description, default_branch = n.default_branch,
           head_sha = n.head_sha, updated_at = n.updated_at
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS n(id text, is_private boolean, description text, default_branch text, head_sha text, updated_at timestamptz)
     WHERE r.id = n.id`;
}
