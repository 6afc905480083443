import type { Anonymous, OperatorCommand, Person, Publisher, TokenHolder } from "../access/actor.ts";
import { addressKey } from "../accounts/address-key.ts";
import { requestContext } from "../log.ts";

/** Whom a place is counted against: an account, the address of somebody who is not signed in, or this process itself. */
export type Party = { key: string; isAnonymous: boolean };

/** What runs outside of any request: housekeeping, deliveries, jobs. */
const BACKGROUND: Party = { key: "background", isAnonymous: false };

/**
 * The party of the request that is being answered. Until a door says who is signed in, it is the client's address. It is found
 * through the request's context, so that no operation has to pass it on.
 */
export function currentParty(): Party {
  const context = requestContext.getStore();
  if (!context) return BACKGROUND;
  // One customer may have a /48: with /64 networks alone, one connection would be as many parties as there are places.
  context.party ??= { key: `address ${addressKey(context.ip ?? null, 48) ?? "unknown"}`, isAnonymous: true };
  return context.party;
}

/** Whom a request can count against. A platform publishes events; the operator made it. Receivers are whom webhooks post to (Spaces). */
type Counted =
  | Pick<Person | TokenHolder, "kind" | "userId">
  | Pick<Publisher, "kind" | "trustedById">
  | { kind: "platform"; id: string }
  | { kind: "receivers"; ofParty: string }
  | Anonymous
  | OperatorCommand;
const PLATFORM = "platform ";

export const isPlatform = ({ key }: Party): boolean => key.startsWith(PLATFORM);

/** For doors: from now on this request counts against `actor`, whatever address it came from. */
export function countAgainst(actor: Counted): void {
  const context = requestContext.getStore();
  const key = keyOf(actor);
  if (context && key) context.party = { key, isAnonymous: false };
}

function keyOf(actor: Counted): string | undefined {
  if (actor.kind === "person" || actor.kind === "token") return `account ${actor.userId}`;
  // Somebody may trust a great many publishers, with issuers of their own: as parties they would hold all places.
  if (actor.kind === "publisher") return `account ${actor.trustedById}`;
  if (actor.kind === "platform") return `${PLATFORM}${actor.id}`;
  // Apart from the account itself, which is not delayed by whoever posts to its Spaces.
  if (actor.kind === "receivers") return `receivers of ${actor.ofParty}`;
  return undefined;
}
