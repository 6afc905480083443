import { domainOf, eventScopes } from "@keyhook/sdk";
import { z } from "zod";
import type { ClaimedEvent } from "./claim-events.ts";
import type { Watched } from "./match-webhooks.ts";

/** The parts of a payload that a fan-out reads; the rest is passed on unchanged. */
const read = z.object({
  repo: z.object({ name: z.string().min(1) }),
  movedTo: z.object({ owner: z.object({ id: z.string() }) }).optional(),
});

export type ParsedEvent = Omit<ClaimedEvent, "payload"> & Watched & { repoName: string };

/**
 * Reads from an event what its deliveries need.
 * @returns the reason if no deliveries can be created from it, however often it is tried
 */
export function parseEvent({ payload, ...event }: ClaimedEvent): ParsedEvent | { unusable: string } {
  const scope = eventScopes.find((each) => each === event.scope);
  if (!scope) return { unusable: `its scope is not known: ${event.scope}` };
  const parsed = read.safeParse(JSON.parse(payload));
  if (!parsed.success) return { unusable: "its payload does not name its repository" };
  const { repo, movedTo } = parsed.data;
  // JSON can contain NUL, text columns cannot.
  if (repo.name.includes("\0")) return { unusable: "its repository's name has a NUL character" };
  return { ...event, domain: domainOf(scope), repoName: repo.name, movedToOwnerId: movedTo?.owner.id ?? null };
}
