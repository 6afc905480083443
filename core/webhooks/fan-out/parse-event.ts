import { domainOf, eventScopes } from "@keyhook/sdk";
import { z } from "zod";
import type { ClaimedEvent } from "./claim-events.ts";
import type { Watched } from "./match-webhooks.ts";

/** What a fan-out reads of a payload; the rest is passed on as it is. */
const read = z.object({
  repo: z.object({ name: z.string().min(1) }),
  movedTo: z.object({ owner: z.object({ id: z.string() }) }).optional(),
});

export type ParsedEvent = Omit<ClaimedEvent, "payload"> & Watched & { repoName: string };

/**
 * Reads of an event what its deliveries need.
 * @returns the reason, of one of which no deliveries can be made however often it is tried
 */
export function parseEvent({ payload, ...event }: ClaimedEvent): ParsedEvent | { unusable: string } {
  const scope = eventScopes.find((each) => each === event.scope);
  if (!scope) return { unusable: `its scope is not known: ${event.scope}` };
  const parsed = read.safeParse(JSON.parse(payload));
  if (!parsed.success) return { unusable: "its payload does not name its repository" };
  const { repo, movedTo } = parsed.data;
  // What JSON holds and text does not.
  if (repo.name.includes("\0")) return { unusable: "its repository's name has a NUL character" };
  return { ...event, domain: domainOf(scope), repoName: repo.name, movedToOwnerId: movedTo?.owner.id ?? null };
}
