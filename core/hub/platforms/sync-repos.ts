import type { EventPayload } from "@keyhook/sdk";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { type NewEvent, recordEvents } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { repoPayload } from "../repos/repo.ts";
import { inTurn } from "./in-turn.ts";
import { lockPlatform, type Mirrored, readMirrored, readOwners, rememberNames } from "./mirror.ts";
import { type Entry, type Occupant, placeWanted, readEntries, refuseTakenNames, resolveEntries } from "./plan-sync.ts";
import type { Platform } from "./platform.ts";

export const SYNC_MAX_REPOS = 1_000;

export type SyncInput = {
  repos: readonly unknown[];
  /** These are all there are: what is absent goes. */
  isComplete?: boolean;
  /** What changes by this call is recorded as events too. Left out, the platform tells of changes by its own events. */
  isRecorded?: boolean;
};

export type SyncStatus = "created" | "updated" | "moved" | "unchanged" | "deleted" | "failed";
export type SyncResult = { id: string | null; status: SyncStatus; refusal?: ServiceError };

/**
 * Makes what is known here of a platform's repositories what the platform says. Sending the same again changes nothing; one that is
 * refused does not stop the others. A few statements, however many there are.
 * @returns what became of each, in the order of the call, then those that went
 * @throws ServiceError `payload_too_large`, `unavailable`, `conflict` when somebody else took a name in between: send it again
 */
export async function syncRepos(platform: Platform, input: SyncInput, from: RequestOrigin): Promise<SyncResult[]> {
  if (input.repos.length > SYNC_MAX_REPOS) {
    throw new ServiceError("payload_too_large", `Send at most ${SYNC_MAX_REPOS} repositories at a time.`);
  }
  const entries = readEntries(input.repos);
  try {
    return await inTurn(platform.id, () => db().$transaction((tx) => sync(tx, platform, entries, input, from)));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ServiceError("conflict", "A name was taken while this was done. Nothing was changed: send it again.", {
      cause: error,
    });
  }
}

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && (error.code === "P2002" || /23505/.test(error.message));

async function sync(tx: Db, platform: Platform, entries: Entry[], input: SyncInput, from: RequestOrigin): Promise<SyncResult[]> {
  await lockPlatform(tx, platform);
  const owners = await readOwners(
    tx,
    entries.flatMap(({ told }) => (told ? [told.handle] : [])),
  );
  const ids = entries.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
  const wanted = input.isComplete ? Prisma.sql`TRUE` : Prisma.sql`r.external_id = ANY(${ids})`;
  const known = new Map((await readMirrored(tx, platform, wanted)).map((repo) => [repo.externalId, repo]));
  resolveEntries(entries, owners, known);
  const gone = input.isComplete ? absent(entries, known) : [];
  refuseTakenNames(entries, await readOccupants(tx, entries), new Set(gone.map(({ id }) => id)));

  await tx.repo.deleteMany({ where: { id: { in: gone.map(({ id }) => id) } } });
  const accepted = entries.filter(({ refusal, told }) => told && !refusal);
  await moveAll(tx, accepted.filter(isMoved));
  await createAll(
    tx,
    platform,
    accepted.filter(({ before }) => !before),
  );
  await updateAll(tx, accepted.filter(isChanged));

  const after = new Map(
    (await readMirrored(tx, platform, Prisma.sql`r.external_id = ANY(${ids})`)).map((one) => [one.externalId, one]),
  );
  for (const entry of accepted) {
    if (after.has(entry.told?.id ?? "")) continue;
    entry.refusal = new ServiceError("conflict", `${entry.told?.name} could not be taken.`, { field: "name" });
  }
  const results = [
    ...entries.map((entry): SyncResult => ({ id: entry.externalId, ...outcomeOf(entry) })),
    ...gone.map(({ externalId }): SyncResult => ({ id: externalId, status: "deleted" })),
  ];
  if (input.isRecorded) await recordEvents(tx, eventsOf(accepted, after, gone));
  await recordAudit(tx, platform, results, from);
  return results;
}

/** What the platform no longer names; nothing while it is not certain what it names. */
function absent(entries: Entry[], known: Map<string, Mirrored>): Mirrored[] {
  if (entries.some(({ externalId }) => externalId === null)) return [];
  const named = new Set(entries.map(({ externalId }) => externalId));
  return [...known.values()].filter(({ externalId }) => !named.has(externalId));
}

async function readOccupants(tx: Db, entries: Entry[]): Promise<Occupant[]> {
  const places = entries.flatMap(({ told, owner }) => (told && owner ? [{ told, owner }] : []));
  return tx.$queryRaw<Occupant[]>`
    SELECT r.id AS "repoId", r.owner_id || '/' || r.type || '/' || r.name_canonical AS place
      FROM repo r JOIN (SELECT DISTINCT * FROM unnest(${places.map(({ owner }) => owner.id)}::text[],
        ${places.map(({ told }) => told.type)}::text[], ${places.map(({ told }) => told.canonical)}::text[]) AS t(owner_id, type, name)) p
        ON r.owner_id = p.owner_id AND r.type = p.type AND r.name_canonical = p.name`;
}

const isMoved = ({ before, told, owner }: Entry): boolean =>
  before !== undefined && (before.owner.id !== owner?.id || before.name !== told?.spelled);

/** First all leave their names, then each takes its new one: so two can change places. */
async function moveAll(tx: Db, moved: Entry[]): Promise<void> {
  if (moved.length === 0) return;
  const ids = moved.map(({ before }) => before?.id ?? "");
  await tx.$executeRaw`UPDATE repo SET name_canonical = '/' || id WHERE id = ANY(${ids})`;
  await tx.$executeRaw`
    UPDATE repo r SET owner_id = n.owner_id, owner_kind = n.owner_kind, name = n.name, name_canonical = lower(n.name)
      FROM unnest(${ids}::text[], ${moved.map(({ owner }) => owner?.id)}::text[], ${moved.map(({ owner }) => owner?.kind)}::text[],
                  ${moved.map(({ told }) => told?.spelled)}::text[]) AS n(id, owner_id, owner_kind, name)
     WHERE r.id = n.id`;
  await rememberNames(
    tx,
    moved.flatMap((entry) => (entry.before && wasAt(entry) !== placeWanted(entry) ? [{ repo: entry.before }] : [])),
    takenBy(moved),
  );
}

const wasAt = ({ before }: Entry): string => (before ? `${before.owner.id}/${before.type}/${before.name.toLowerCase()}` : "");

const takenBy = (entries: Entry[]) =>
  entries.flatMap(({ told, owner }) =>
    told && owner ? [{ ownerId: owner.id, type: told.type, canonical: told.canonical }] : [],
  );

async function createAll(tx: Db, platform: Platform, fresh: Entry[]): Promise<void> {
  if (fresh.length === 0) return;
  await rememberNames(tx, [], takenBy(fresh));
  const rows = fresh.flatMap(({ told, owner }) => (told && owner ? [{ told, owner }] : []));
  await tx.repo.createMany({
    data: rows.map(({ told, owner }) => ({
      id: newId(),
      type: told.type,
      ownerId: owner.id,
      ownerKind: owner.kind,
      name: told.spelled,
      nameCanonical: told.canonical,
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
    })),
    skipDuplicates: true,
  });
}

/** What the platform says that is not so here; what it does not mention stays. */
function changesOf({ before, told }: Entry): Partial<Mirrored> {
  if (!before || !told) return {};
  const said: Partial<Mirrored> = {
    isPrivate: told.private,
    externalUrl: told.url,
    ...(told.description !== undefined && { description: told.description || null }),
    ...(told.tags && { tags: told.tags }),
    ...(told.defaultBranch && { defaultBranch: told.defaultBranch }),
    ...(told.headSha !== undefined && { headSha: told.headSha }),
  };
  const changed = Object.entries(said).filter(
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

/** As a repository that is hosted here would have told of the same. */
function eventsOf(accepted: Entry[], after: Map<string, Mirrored>, gone: Mirrored[]): NewEvent[] {
  const payloads: EventPayload[] = gone.map((repo) => ({
    event: { scope: "repo", action: "delete" },
    repo: repoPayload(repo),
  }));
  for (const entry of accepted) {
    const [now, before] = [after.get(entry.told?.id ?? ""), entry.before];
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

/** One entry for a call that changed anything. */
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
