import { type Db, db } from "../../db.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type NewEvent, recordEvents } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { applyEvent, type Mirror, writeChanges } from "./apply-event.ts";
import type { EventData } from "./event-data.ts";
import { eventPayload } from "./event-payload.ts";
import { inTurn } from "./in-turn.ts";
import { lockPlatform, readMirrored, readOwners } from "./mirror.ts";
import type { Platform } from "./platform.ts";
import { type CloudEvent, readCloudEvent } from "./read-cloud-event.ts";

export const EVENTS_MAX = 1_000;

/** What became of one event. `duplicate`: it was taken before, and counts once. */
export type Taken = { source: string | null; id: string | null } & (
  | { status: "recorded"; eventId: string }
  | { status: "duplicate" }
  | { status: "failed"; refusal: ServiceError }
);

/**
 * Takes what a platform tells, in its order: each event once, by `source` and `id`, with what it does to the repository's row in the
 * same transaction (S122). One that is refused does not stop the others, and may be sent again once what was wrong with it is put right.
 * A few statements, however many there are.
 * @throws ServiceError `payload_too_large`, `unavailable`
 */
export async function takeEvents(platform: Platform, sent: readonly unknown[]): Promise<Taken[]> {
  if (sent.length > EVENTS_MAX) {
    throw new ServiceError("payload_too_large", `Send at most ${EVENTS_MAX} events at a time.`);
  }
  const read = sent.map((value) => readOne(value, platform));
  if (read.every(({ event }) => event === undefined)) return read.map(({ taken }) => taken as Taken);
  return inTurn(platform.id, () => takeAll(platform, read));
}

function takeAll(platform: Platform, read: readonly Read[]): Promise<Taken[]> {
  const events = read.flatMap(({ event }) => (event ? [event] : []));
  return db().$transaction(async (tx) => {
    await lockPlatform(tx, platform);
    const seen = await readSeen(tx, events);
    const mirror = await readMirror(
      tx,
      platform,
      events.filter((event) => !seen.has(keyOf(event))),
    );
    const results: (Taken | { event: CloudEvent; at: number })[] = [];
    const recorded: NewEvent[] = [];
    for (const { event, taken } of read) {
      if (!event) results.push(taken as Taken);
      else if (seen.has(keyOf(event))) results.push({ source: event.source, id: event.id, status: "duplicate" });
      else {
        const made = await takeOne(tx, mirror, event);
        if ("status" in made) results.push(made);
        else {
          seen.add(keyOf(event));
          results.push({ event, at: recorded.push(made) - 1 });
        }
      }
    }
    await writeChanges(tx, mirror);
    const ids = await recordEvents(tx, recorded);
    return results.map((result) =>
      "status" in result
        ? result
        : { source: result.event.source, id: result.event.id, status: "recorded", eventId: ids[result.at] ?? "" },
    );
  });
}

const keyOf = ({ source, id }: { source: string; id: string }): string => JSON.stringify([source, id]);

type Read = { event: CloudEvent; taken?: undefined } | { event?: undefined; taken: Taken };

function readOne(value: unknown, platform: Platform): Read {
  try {
    return { event: readCloudEvent(value, platform) };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const { source, id } = (typeof value === "object" && value !== null ? value : {}) as { source?: unknown; id?: unknown };
    return { taken: { source: textOrNull(source), id: textOrNull(id), status: "failed", refusal: error } };
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value.slice(0, 500) : null);

async function readSeen(tx: Db, events: CloudEvent[]): Promise<Set<string>> {
  const rows = await tx.$queryRaw<{ source: string; id: string }[]>`
    SELECT e.source, e.source_id AS id
      FROM unnest(${events.map(({ source }) => source)}::text[], ${events.map(({ id }) => id)}::text[]) AS s(source, id)
      JOIN event e ON e.source = s.source AND e.source_id = s.id`;
  return new Set(rows.map(keyOf));
}

async function readMirror(tx: Db, platform: Platform, events: CloudEvent[]): Promise<Mirror> {
  const [handles, ids, externalIds, names] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { data } of events) {
    const { id, externalId, name } = data.repo as { id?: string; externalId?: string; name?: unknown };
    if (data.kind !== "repo create" && id !== undefined) ids.add(id);
    if (externalId !== undefined) externalIds.add(externalId);
    if (typeof name === "string") names.add(name.toLowerCase());
    for (const handle of handlesIn(data)) handles.add(handle.toLowerCase());
  }
  const owners = await readOwners(tx, handles);
  const named = [...names]
    .map((name) => name.split("/"))
    .flatMap(([handle = "", name = ""]) => {
      const owner = owners.get(handle);
      return owner ? [{ ownerId: owner.id, name }] : [];
    });
  const repos = await readMirrored(
    tx,
    platform,
    Prisma.sql`r.id = ANY(${[...ids]}) OR r.external_id = ANY(${[...externalIds]}) OR (r.owner_id, r.name_canonical) IN (
      SELECT * FROM unnest(${named.map(({ ownerId }) => ownerId)}::text[], ${named.map(({ name }) => name)}::text[]))`,
  );
  return { platform, owners, repos, changed: new Set() };
}

/** Whoever is named in an event: owners of repositories, and authors. */
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

async function takeOne(tx: Db, mirror: Mirror, { source, id, data }: CloudEvent): Promise<NewEvent | Taken> {
  try {
    const applied = await applyEvent(tx, mirror, data);
    return { payload: eventPayload(data, { ...mirror, ...applied }), actorId: null, from: { source, sourceId: id } };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return { source, id, status: "failed", refusal: error };
  }
}
