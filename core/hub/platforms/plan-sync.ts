import { conflict, invalidRequest, notFound, type ServiceError } from "../../errors.ts";
import {
  type DescribedRepo,
  describedRepoSchema,
  type Mirrored,
  type NamedOwner,
  refusalOf,
  repoKey,
  splitName,
  unstorable,
} from "./mirror.ts";

export type Entry = {
  externalId: string | null;
  described?: DescribedRepo & { handle: string; spelled: string; canonical: string };
  owner?: NamedOwner;
  before?: Mirrored;
  refusal?: ServiceError;
};

export function readEntries(sent: readonly unknown[]): Entry[] {
  const seen = new Set<string>();
  return sent.map((value) => {
    const parsed = describedRepoSchema.safeParse(value);
    const externalId = parsed.success ? parsed.data.id : idOf(value);
    const problem = unstorable(value);
    if (problem) return { externalId: null, refusal: invalidRequest(problem) };
    if (!parsed.success) return { externalId, refusal: refusalOf(parsed.error) };
    if (seen.has(parsed.data.id)) {
      return { externalId, refusal: invalidRequest("id: occurs twice.", "id") };
    }
    seen.add(parsed.data.id);
    try {
      return { externalId, described: { ...parsed.data, ...splitName(parsed.data.name) } };
    } catch (error) {
      return { externalId, refusal: error as ServiceError };
    }
  });
}

function idOf(value: unknown): string | null {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : undefined;
  return typeof id === "string" || typeof id === "number" ? String(id) : null;
}

export function resolveEntries(entries: Entry[], owners: Map<string, NamedOwner>, known: Map<string, Mirrored>): void {
  for (const entry of entries) {
    if (!entry.described) continue;
    const [owner, before] = [owners.get(entry.described.handle), known.get(entry.described.id)];
    if (before) entry.before = before;
    if (owner) entry.owner = owner;
    else entry.refusal = notFound("Owner");
    if (before && before.type !== entry.described.type) {
      entry.refusal = conflict(`This repository is a ${before.type}, and its type cannot change.`, "type");
    }
  }
}

export type Occupant = { repoId: string; key: string };

/**
 * Repositories may exchange names, even in a ring. A refused repository keeps its name, so another repository that wants this
 * name is refused too.
 * @param leaving IDs of repositories that will be deleted
 */
export function refuseTakenNames(entries: Entry[], occupants: Occupant[], leaving: ReadonlySet<string>): void {
  const movers = new Map(
    entries.flatMap((entry) => (entry.before && !entry.refusal ? [[entry.before.id, wantedKey(entry)] as const] : [])),
  );
  const kept = occupants.filter(({ repoId, key }) => !leaving.has(repoId) && (movers.get(repoId) ?? key) === key);
  const holders = new Map(kept.map(({ repoId, key }) => [key, repoId]));
  const granted = new Map<string, Entry>();
  const refused: Entry[] = [];
  const refuse = (entry: Entry) => {
    entry.refusal = conflict(`${entry.described?.name} is another ${entry.described?.type}'s name.`, "name");
    refused.push(entry);
  };
  for (const entry of entries) {
    if (entry.refusal || !entry.described || !entry.owner) continue;
    const key = wantedKey(entry);
    const holder = holders.get(key);
    const self = entry.before?.id ?? `new ${entry.described.id}`;
    if (holder === undefined) {
      holders.set(key, self);
      granted.set(key, entry);
    } else if (holder !== self) refuse(entry);
  }
  const keys = new Map(occupants.map(({ repoId, key }) => [repoId, key]));
  for (let entry = refused.pop(); entry; entry = refused.pop()) {
    const other = granted.get(keys.get(entry.before?.id ?? "") ?? "");
    if (other && other !== entry && !other.refusal) refuse(other);
  }
}

export function wantedKey({ described, owner }: Entry): string {
  return described && owner ? repoKey(owner.id, described.type, described.canonical) : "";
}
