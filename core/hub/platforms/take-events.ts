import { databaseCodes, isDatabaseDown, LOCK_TIMEOUT } from "../../database-errors.ts";
import { inPreparedTransaction, type Sql } from "../../db.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { insertEvents, type NewEvent, toRow } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { batched } from "../../postgres/batched.ts";
import { currentTraceparent } from "../../telemetry.ts";
import { tooManyWaiting } from "../one-at-a-time.ts";
import { applyEvent, type Mirror, writeChanges } from "./apply-event.ts";
import type { EventData } from "./event-data.ts";
import { eventPayload } from "./event-payload.ts";
import { inOrder, lockFreePlatforms, lockPlatform, type Mirrored, readMirrored, readOwners, WAITING_MAX } from "./mirror.ts";
import { type Platform, type PresentedPlatform, refusedToken, requireValidToken } from "./platform.ts";
import { type CloudEvent, readCloudEvent } from "./read-cloud-event.ts";

export const EVENTS_MAX = 1_000;

export type Taken = { source: string | null; id: string | null } & (
  | { status: "recorded"; eventId: string }
  | { status: "duplicate" }
  | { status: "failed"; refusal: ServiceError }
);

/** One transaction records events and applies them to repositories (S122). Simultaneous requests share it. */
export async function takeEvents(platform: PresentedPlatform, sent: readonly unknown[]): Promise<Taken[]> {
  if (sent.length > EVENTS_MAX) {
    throw new ServiceError("payload_too_large", `Send at most ${EVENTS_MAX.toLocaleString("en")} events at a time.`);
  }
  const traceparent = currentTraceparent();
  const read = sent.map((value) => ({ ...readOne(value, platform), traceparent }));
  if (read.every(({ event }) => event === undefined)) {
    await requireValidToken(platform);
    return read.map(({ taken }) => taken as Taken);
  }
  return new Promise((resolve, reject) => {
    const request = { tokenHash: platform.tokenHash, read, resolve, reject };
    const others = waiting.get(platform.id);
    if (!others) {
      waiting.set(platform.id, [request]);
      takeNext(platform);
    } else if (others.length < WAITING_MAX) others.push(request);
    else reject(tooManyWaiting());
  });
}

type Request = {
  tokenHash: string;
  read: readonly Read[];
  resolve: (taken: Taken[]) => void;
  reject: (error: unknown) => void;
};

const waiting = new Map<string, Request[]>();

function takeNext(platform: Platform): void {
  inOrder(platform, () => takeTurn({ platform, requests: dequeue(platform) })).catch((error: unknown) => {
    for (const { reject } of waiting.get(platform.id) ?? []) reject(error);
    waiting.delete(platform.id);
  });
}

function dequeue(platform: Platform): Request[] {
  const all = waiting.get(platform.id) ?? [];
  let events = 0;
  const next = all.findIndex(({ read }, at) => {
    events += read.length;
    return events > EVENTS_MAX && at > 0;
  });
  const left = next === -1 ? [] : all.splice(next);
  if (left.length === 0) waiting.delete(platform.id);
  else {
    waiting.set(platform.id, left);
    takeNext(platform);
  }
  return all;
}

type Turn = { platform: Platform; requests: readonly Request[] };

/** A turn with more events gets its own transaction, because other platforms must not wait for it. */
const SHARED_EVENTS_MAX = 64;
const SHARED_PLATFORMS_MAX = 32;
/** While one transaction waits for the disk, another one reads. */
const SHARED_AT_ONCE = 2;

const takeShared = batched<Turn, boolean>(
  async (turns) => {
    try {
      const taken = await takeTurns(turns, lockFreePlatforms);
      return turns.map((turn) => taken.includes(turn));
    } catch (error) {
      if (isDatabaseDown(error) && !databaseCodes(error).includes(LOCK_TIMEOUT)) throw error;
      return turns.map(() => false);
    }
  },
  SHARED_PLATFORMS_MAX,
  SHARED_AT_ONCE,
);

async function takeTurn(turn: Turn): Promise<void> {
  try {
    const isShared = countOf(turn) <= SHARED_EVENTS_MAX && (await takeShared(turn));
    if (!isShared) await takeAlone(turn);
  } catch (error) {
    for (const { reject } of turn.requests) reject(error);
  }
}

const countOf = ({ requests }: Turn): number => requests.reduce((sum, { read }) => sum + read.length, 0);

/** After a failure, tries each request alone, so that none fails because of another. */
async function takeAlone({ platform, requests }: Turn): Promise<void> {
  try {
    await takeTurns([{ platform, requests }], lockPlatform);
  } catch (error) {
    if (requests.length === 1 || isServiceError(error) || isDatabaseDown(error)) throw error;
    for (const request of requests) await takeAlone({ platform, requests: [request] }).catch(request.reject);
  }
}

async function takeTurns(turns: readonly Turn[], lock: typeof lockFreePlatforms): Promise<readonly Turn[]> {
  const { locked, allowed, refused, taken } = await inPreparedTransaction(async (tx) => {
    const events = eventsOf(turns).flatMap(({ platform, event }) => (event ? [{ platform, event }] : []));
    const ids = turns.map(({ platform }) => platform.id);
    // The connection runs the reads after the lock, so they see all that was committed before.
    const [free, seen, mirrors] = await Promise.all([lock(tx, ids), readSeen(tx, events), readMirrors(tx, events)]);
    const locked = turns.filter(({ platform }) => free.has(platform.id));
    const isValid = (platform: Platform) => (request: Request) => free.get(platform.id)?.includes(request.tokenHash);
    const allowed = locked.map(({ platform, requests }) => ({ platform, requests: requests.filter(isValid(platform)) }));
    const refused = locked.flatMap(({ platform, requests }) => requests.filter((request) => !isValid(platform)(request)));
    const write = await takeAll(tx, eventsOf(allowed), { seen, mirrors });
    return async () => ({ locked, allowed, refused, taken: await write() });
  });
  for (const { requests } of allowed) for (const { read, resolve } of requests) resolve(taken.splice(0, read.length));
  for (const { tokenHash, reject } of refused) reject(refusedToken(tokenHash));
  return locked;
}

type Sent = Read & { platform: Platform };

const eventsOf = (turns: readonly Turn[]): Sent[] =>
  turns.flatMap(({ platform, requests }) => requests.flatMap(({ read }) => read.map((one) => ({ ...one, platform }))));

type Known = { seen: Set<string>; mirrors: Map<string, Mirror> };

async function takeAll(tx: Sql, sent: readonly Sent[], { seen, mirrors }: Known): Promise<() => Promise<Taken[]>> {
  const results: (Taken | { event: CloudEvent; at: number })[] = [];
  const recorded: NewEvent[] = [];
  for (const { platform, event, taken, traceparent } of sent) {
    if (!event) results.push(taken as Taken);
    else if (seen.has(keyOf(event))) results.push({ source: event.source, id: event.id, status: "duplicate" });
    else {
      const made = await takeOne(tx, mirrors.get(platform.id) as Mirror, event);
      if ("status" in made) results.push(made);
      else {
        seen.add(keyOf(event));
        results.push({ event, at: recorded.push({ ...made, traceparent }) - 1 });
      }
    }
  }
  const changed = [...mirrors.values()].flatMap((mirror) => [...mirror.changed]);
  const rows = recorded.map(toRow);
  return async () => {
    const [ids] = await Promise.all([insertEvents(tx, rows), writeChanges(tx, changed)]);
    return results.map((result) =>
      "status" in result
        ? result
        : { source: result.event.source, id: result.event.id, status: "recorded", eventId: ids[result.at] ?? "" },
    );
  };
}

const keyOf = ({ source, id }: { source: string; id: string }): string => JSON.stringify([source, id]);

type ReadOne = { event: CloudEvent; taken?: undefined } | { event?: undefined; taken: Taken };
type Read = ReadOne & { traceparent: string | null };

function readOne(value: unknown, platform: Platform): ReadOne {
  try {
    return { event: readCloudEvent(value, platform) };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const { source, id } = (typeof value === "object" && value !== null ? value : {}) as { source?: unknown; id?: unknown };
    return { taken: { source: textOrNull(source), id: textOrNull(id), status: "failed", refusal: error } };
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value.slice(0, 500) : null);

type OfPlatform = { platform: Platform; event: CloudEvent };

/** Looks up each event by itself, because a cached plan for all together could read the whole table. */
async function readSeen(tx: Sql, events: readonly OfPlatform[]): Promise<Set<string>> {
  const rows = await tx.$queryRaw<{ source: string; id: string }[]>`
    SELECT e.source, e.source_id AS id
      FROM unnest(${events.map(({ event }) => event.source)}::text[], ${events.map(({ event }) => event.id)}::text[]) AS s(source, id)
      CROSS JOIN LATERAL (SELECT source, source_id FROM event WHERE source = s.source AND source_id = s.id LIMIT 1) e`;
  return new Set(rows.map(keyOf));
}

/** Uses joins, because ORs would read all repositories of a platform. */
async function readMirrors(tx: Sql, events: readonly OfPlatform[]): Promise<Map<string, Mirror>> {
  const references = events.map(({ platform, event: { data } }) => {
    const { id, externalId, name } = data.repo as { id?: string; externalId?: string; name?: unknown };
    const [handle, ownName] = typeof name === "string" ? name.toLowerCase().split("/") : [];
    return { platformId: platform.id, id: data.kind === "repo create" ? undefined : id, externalId, handle, name: ownName };
  });
  const owners = await readOwners(
    tx,
    events.flatMap(({ event: { data } }) => handlesIn(data).map((handle) => handle.toLowerCase())),
  );
  const of = (key: "id" | "externalId" | "name") => {
    const given = references.filter((reference) => reference[key] !== undefined);
    return {
      platforms: given.map(({ platformId }) => platformId),
      keys: given.map((reference) => reference[key]),
      owners: given.map(({ handle }) => owners.get(handle ?? "")?.id),
    };
  };
  const [byId, byExternalId, byName] = [of("id"), of("externalId"), of("name")];
  const repos = await readMirrored(
    tx,
    Prisma.sql`r.id IN (
      SELECT r.id FROM unnest(${byId.platforms}::text[], ${byId.keys}::text[]) AS k(platform_id, id) JOIN repo r USING (platform_id, id)
      UNION ALL SELECT r.id FROM unnest(${byExternalId.platforms}::text[], ${byExternalId.keys}::text[]) AS k(platform_id, external_id)
        JOIN repo r USING (platform_id, external_id)
      UNION ALL SELECT r.id FROM unnest(${byName.platforms}::text[], ${byName.owners}::text[], ${byName.keys}::text[])
        AS k(platform_id, owner_id, name_canonical) JOIN repo r USING (platform_id, owner_id, name_canonical))`,
  );
  const ofPlatform = Map.groupBy(repos, ({ platformId }) => platformId);
  return new Map(
    events.map(({ platform }) => [
      platform.id,
      { platform, owners, repos: ofPlatform.get(platform.id) ?? [], changed: new Set<Mirrored>() },
    ]),
  );
}

function handlesIn(data: EventData): string[] {
  const { name } = data.repo as { name?: unknown };
  return [
    ...(typeof name === "string" ? [ownerIn(name)] : []),
    ...("movedTo" in data ? [ownerIn(data.movedTo.name)] : []),
    ...("discussion" in data && data.discussion.author.name ? [data.discussion.author.name] : []),
    ...("comment" in data && data.comment?.author.name ? [data.comment.author.name] : []),
  ];
}

const ownerIn = (fullName: string): string => fullName.split("/")[0] ?? "";

async function takeOne(tx: Sql, mirror: Mirror, { source, id, data }: CloudEvent): Promise<NewEvent | Taken> {
  try {
    const applied = await applyEvent(tx, mirror, data);
    return { payload: eventPayload(data, { ...mirror, ...applied }), actorId: null, from: { source, sourceId: id } };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return { source, id, status: "failed", refusal: error };
  }
}
