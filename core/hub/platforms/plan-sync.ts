import { notFound, ServiceError } from "../../errors.ts";
import type { NamedOwner } from "./mirror.ts";
import { type Mirrored, placeOf } from "./mirror.ts";
import { type MirroredRepo, mirroredRepoSchema, refusalOf, splitName } from "./mirrored-repo.ts";
import { unstorable } from "./storable.ts";

/** One repository of a call: what the platform says of it, and what became of that. */
export type Entry = {
  /** The platform's own id; null where it could not be read. */
  externalId: string | null;
  told?: MirroredRepo & { handle: string; spelled: string; canonical: string };
  owner?: NamedOwner;
  /** As it was. */
  before?: Mirrored;
  refusal?: ServiceError;
};

/** Reads what was sent, each repository for itself. */
export function readEntries(sent: readonly unknown[]): Entry[] {
  const seen = new Set<string>();
  return sent.map((value) => {
    const parsed = mirroredRepoSchema.safeParse(value);
    const externalId = parsed.success ? parsed.data.id : idOf(value);
    const problem = unstorable(value);
    if (problem) return { externalId: null, refusal: new ServiceError("invalid_request", problem) };
    if (!parsed.success) return { externalId, refusal: refusalOf(parsed.error) };
    if (seen.has(parsed.data.id)) {
      return { externalId, refusal: new ServiceError("invalid_request", "id: is there twice.", { field: "id" }) };
    }
    seen.add(parsed.data.id);
    try {
      return { externalId, told: { ...parsed.data, ...splitName(parsed.data.name) } };
    } catch (error) {
      return { externalId, refusal: error as ServiceError };
    }
  });
}

function idOf(value: unknown): string | null {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : undefined;
  return typeof id === "string" || typeof id === "number" ? String(id) : null;
}

/** Finds out whose each is to be and what it was. */
export function resolveEntries(entries: Entry[], owners: Map<string, NamedOwner>, known: Map<string, Mirrored>): void {
  for (const entry of entries) {
    if (!entry.told) continue;
    const [owner, before] = [owners.get(entry.told.handle), known.get(entry.told.id)];
    if (before) entry.before = before;
    if (owner) entry.owner = owner;
    else entry.refusal = notFound("Owner");
    if (before && before.type !== entry.told.type) {
      entry.refusal = new ServiceError("conflict", `It is a ${before.type}, and stays one.`, { field: "type" });
    }
  }
}

/** Who has a name now, in this call's places. */
export type Occupant = { repoId: string; place: string };

/**
 * Refuses whoever wants a name that another one keeps. Repositories may change names among themselves, in a ring too: a name counts as
 * free when its holder leaves it. Whoever is refused keeps their old name, so that it is asked again until nothing changes.
 * @param leaving ids of repositories that go
 */
export function refuseTakenNames(entries: Entry[], occupants: Occupant[], leaving: ReadonlySet<string>): void {
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    const movers = new Map(
      entries.flatMap((entry) => (entry.before && !entry.refusal ? [[entry.before.id, placeWanted(entry)] as const] : [])),
    );
    const holders = new Map<string, string>();
    for (const { repoId, place } of occupants) {
      if (!leaving.has(repoId) && (movers.get(repoId) ?? place) === place) holders.set(place, repoId);
    }
    for (const entry of entries) {
      if (entry.refusal || !entry.told || !entry.owner) continue;
      const place = placeWanted(entry);
      const holder = holders.get(place);
      const self = entry.before?.id ?? `new ${entry.told.id}`;
      if (holder === undefined) holders.set(place, self);
      else if (holder !== self) {
        entry.refusal = new ServiceError("conflict", `${entry.told.name} is another ${entry.told.type} here.`, { field: "name" });
        isSettled = false;
      }
    }
  }
}

export function placeWanted({ told, owner }: Entry): string {
  return told && owner ? placeOf(owner.id, told.type, told.canonical) : "";
}
