import type { EventPayload } from "@keyhook/sdk";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { databaseCodes, UNIQUE_VIOLATION } from "../../database-errors.ts";
import { type Db, db } from "../../db.ts";
import { conflict, ServiceError } from "../../errors.ts";
import { type NewEvent, recordEvents } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { repoPayload } from "../repos/repo.ts";
import { inOrder, insertRepos, lockPlatform, type Mirrored, readMirrored, readOwners, rememberNames, repoKey } from "./mirror.ts";
import { type Entry, type Occupant, readEntries, refuseTakenNames, resolveEntries, wantedKey } from "./plan-sync.ts";
import type { Platform } from "./platform.ts";

export const SYNC_MAX_REPOS = 1_000;

type SyncInput = {
  repos: readonly unknown[];
  isComplete?: boolean;
  /** Records events, for a platform that sends none. */
  isRecorded?: boolean;
};

export type SyncStatus = "created" | "updated" | "moved" | "unchanged" | "deleted" | "failed";
export type SyncResult = { id: string | null; status: SyncStatus; refusal?: ServiceError };

/** @returns the outcomes in the order of the call, followed by those of deleted repositories */
export async function syncRepos(platform: Platform, input: SyncInput, from: RequestOrigin): Promise<SyncResult[]> {
  if (input.repos.length > SYNC_MAX_REPOS) {
    throw new ServiceError("payload_too_large", `Send at most ${SYNC_MAX_REPOS.toLocaleString("en")} repositories at a time.`);
  }
  const entries = readEntries(input.repos);
  try {
    return await inOrder(platform, () => db().$transaction((tx) => sync(tx, platform, entries, input, from)));
  } catch (error) {
    if (!databaseCodes(error).includes(UNIQUE_VIOLATION)) throw error;
    throw new ServiceError("conflict", "A name was taken in the meantime. Nothing was changed. Send the request again.", {
      cause: error,
    });
  }
}

async function sync(tx: Db, platform: Platform, entries: Entry[], input: SyncInput, from: RequestOrigin): Promise<SyncResult[]> {
  await lockPlatform(tx, [platform.id]);
  const owners = await readOwners(
    tx,
    entries.flatMap(({ described }) => (described ? [described.handle] : [])),
  );
  const ids = entries.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
  const named = Prisma.sql`r.platform_id = ${platform.id} AND r.external_id = ANY(${ids})`;
  const known = new Map((await readMirrored(tx, named)).map((repo) => [repo.externalId, repo]));
  resolveEntries(entries, owners, known);
  // An ID that could not be read may be that of any repository, so nothing is deleted.
  const gone = input.isComplete && ids.length === entries.length ? await readAbsent(tx, platform, ids) : [];
  refuseTakenNames(entries, await readOccupants(tx, entries), new Set(gone.map(({ id }) => id)));

  await tx.repo.deleteMany({ where: { id: { in: gone.map(({ id }) => id) } } });
  const accepted = entries.filter(({ refusal, described }) => described && !refusal);
  await moveAll(tx, accepted.filter(isMoved));
  await createAll(
    tx,
    platform,
    accepted.filter(({ before }) => !before),
  );
  await updateAll(tx, accepted.filter(isChanged));

  const after = new Map((await readMirrored(tx, named)).map((one) => [one.externalId, one]));
  for (const entry of accepted) {
    // `insertRepos` omits a repository whose name was taken meanwhile.
    if (after.has(entry.described?.id ?? "")) continue;
    entry.refusal = conflict(`The name ${entry.described?.name} is not available.`, "name");
  }
  const results = [
    ...entries.map((entry): SyncResult => ({ id: entry.externalId, ...outcomeOf(entry) })),
    ...gone.map(({ externalId }): SyncResult => ({ id: externalId, status: "deleted" })),
  ];
  if (input.isRecorded) await recordEvents(tx, eventsOf(accepted, after, gone));
  await recordAudit(tx, platform, results, from);
  return results;
}

/** @throws ServiceError `conflict` if more repositories are absent than one transaction should delete (S137) */
async function readAbsent(tx: Db, { id }: Platform, ids: string[]): Promise<Mirrored[]> {
  const count = await tx.repo.count({ where: { platformId: id, externalId: { notIn: ids } } });
  if (count > SYNC_MAX_REPOS) {
    throw conflict(
      `This list would delete ${count.toLocaleString("en")} repositories, but a request can delete at most ${SYNC_MAX_REPOS.toLocaleString("en")}. Report some of them with \`repo.delete\` events first.`,
      "complete",
    );
  }
  return readMirrored(tx, Prisma.sql`r.platform_id = ${id} AND NOT r.external_id = ANY(${ids})`);
}

async function readOccupants(tx: Db, entries: Entry[]): Promise<Occupant[]> {
  const wanted = entries.flatMap(({ described, owner }) => (described && owner ? [{ described, owner }] : []));
  return tx.$queryRaw<Occupant[]>`
    SELECT r.id AS "repoId", r.owner_id || '/' || r.type || '/' || r.name_canonical AS key
      FROM repo r JOIN (SELECT DISTINCT * FROM unnest(${wanted.map(({ owner }) => owner.id)}::text[],
        ${wanted.map(({ described }) => described.type)}::text[], ${wanted.map(({ described }) => described.canonical)}::text[]) AS t(owner_id, type, name)) p
        ON r.owner_id = p.owner_id AND r.type = p.type AND r.name_canonical = p.name`;
}

const isMoved = ({ before, described, owner }: Entry): boolean =>
  before !== undefined && (before.owner.id !== owner?.id || before.name !== described?.spelled);

/** First releases all names, so that two repositories can exchange theirs. */
async function moveAll(tx: Db, moved: Entry[]): Promise<void> {
  if (moved.length === 0) return;
  const ids = moved.map(({ before }) => before?.id ?? "");
  await tx.$executeRaw`UPDATE repo SET name_canonical = '/' || id WHERE id = ANY(${ids})`;
  await tx.$executeRaw`
    UPDATE repo r SET owner_id = n.owner_id, owner_kind = n.owner_kind, name = n.name, name_canonical = lower(n.name)
      FROM unnest(${ids}::text[], ${moved.map(({ owner }) => owner?.id)}::text[], ${moved.map(({ owner }) => owner?.kind)}::text[],
                  ${moved.map(({ described }) => described?.spelled)}::text[]) AS n(id, owner_id, owner_kind, name)
     WHERE r.id = n.id`;
  await rememberNames(
    tx,
    moved.flatMap((entry) => (entry.before && oldKey(entry) !== wantedKey(entry) ? [entry.before] : [])),
    takenBy(moved),
  );
}

const oldKey = ({ before }: Entry): string => (before ? repoKey(before.owner.id, before.type, before.name.toLowerCase()) : "");

const takenBy = (entries: Entry[]) =>
  entries.flatMap(({ described, owner }) =>
    described && owner ? [{ ownerId: owner.id, type: described.type, canonical: described.canonical }] : [],
  );

async function createAll(tx: Db, platform: Platform, fresh: Entry[]): Promise<void> {
  if (fresh.length === 0) return;
  await rememberNames(tx, [], takenBy(fresh));
  await insertRepos(
    tx,
    platform,
    fresh.flatMap(({ described, owner }) => (described && owner ? [{ described, owner }] : [])),
  );
}

function changesOf({ before, described }: Entry): Partial<Mirrored> {
  if (!before || !described) return {};
  const sent: Partial<Mirrored> = {
    isPrivate: described.private,
    externalUrl: described.url,
    ...(described.description !== undefined && { description: described.description || null }),
    ...(described.tags && { tags: described.tags }),
    ...(described.defaultBranch && { defaultBranch: described.defaultBranch }),
    ...(described.headSha !== undefined && { headSha: described.headSha }),
  };
  const changed = Object.entries(sent).filter(
    ([name, value]) => JSON.stringify(before[name as keyof Mirrored]) !== JSON.stringify(value),
  );
  return Object.fromEntries(changed);
}

const isChanged = (entry: Entry): boolean => Object.keys(changesOf(entry)).length > 0;

async function updateAll(tx: Db, changed: Entry[]): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map((entry) => {
    const { id, isPrivate, externalUrl, description, tags, defaultBranch, headSha } = { ...entry.before, ...changesOf(entry) };
    const columns = { is_private: isPrivate, external_url: externalUrl, description, tags, default_branch: defaultBranch };
    return { id, ...columns, head_sha: headSha };
  });
  await tx.$executeRaw`
    UPDATE repo r SET is_private = n.is_private, external_url = n.external_url, description = n.description, tags = n.tags,
           default_branch = n.default_branch, head_sha = n.head_sha,
           updated_at = CASE WHEN r.head_sha IS DISTINCT FROM n.head_sha THEN now() ELSE r.updated_at END
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS n(id text, is_private boolean, external_url text, description text, tags text[], default_branch text, head_sha text)
     WHERE r.id = n.id`;
}

function outcomeOf(entry: Entry): { status: SyncStatus; refusal?: ServiceError } {
  if (entry.refusal) return { status: "failed", refusal: entry.refusal };
  if (!entry.before) return { status: "created" };
  if (isMoved(entry)) return { status: "moved" };
  return { status: isChanged(entry) ? "updated" : "unchanged" };
}

function eventsOf(accepted: Entry[], after: Map<string, Mirrored>, gone: Mirrored[]): NewEvent[] {
  const payloads: EventPayload[] = gone.map((repo) => ({
    event: { scope: "repo", action: "delete" },
    repo: repoPayload(repo),
  }));
  for (const entry of accepted) {
    const [now, before] = [after.get(entry.described?.id ?? ""), entry.before];
    if (!now) continue;
    const repo = repoPayload(now);
    if (!before) payloads.push({ event: { scope: "repo", action: "create" }, repo });
    if (before && isMoved(entry)) {
      const movedTo = { name: now.fullName, owner: { id: now.owner.id } };
      payloads.push({ event: { scope: "repo", action: "move" }, repo: repoPayload(before), movedTo });
    }
    const { isPrivate, description, defaultBranch, headSha } = changesOf(entry);
    const updatedConfig = {
      ...(isPrivate !== undefined && { private: isPrivate }),
      ...(description !== undefined && { description }),
      ...(defaultBranch !== undefined && { defaultBranch }),
    };
    if (Object.keys(updatedConfig).length > 0) {
      payloads.push({ event: { scope: "repo.config", action: "update" }, repo, updatedConfig });
    }
    if (before && headSha !== undefined) {
      const updatedRefs = [{ ref: `refs/heads/${now.defaultBranch}`, oldSha: before.headSha, newSha: headSha }];
      payloads.push({ event: { scope: "repo.content", action: "update" }, repo, updatedRefs });
    }
  }
  return payloads.map((payload) => ({ payload, actorId: null }));
}

async function recordAudit(tx: Db, { id, name }: Platform, results: SyncResult[], from: RequestOrigin): Promise<void> {
  const counts = Object.fromEntries(
    (["created", "updated", "moved", "deleted"] as const).map((status) => [
      status,
      results.filter((result) => result.status === status).length,
    ]),
  );
  if (Object.values(counts).every((count) => count === 0)) return;
  await recordAuditEvent(tx, { type: "platform.sync", data: { platformId: id, name, ...counts }, from });
}
