import type { Anonymous, OperatorCommand, Person, Publisher, TokenHolder } from "../access/actor.ts";
import { addressKey } from "../accounts/address-key.ts";
import { requestContext } from "../log.ts";

/** The caller that a slot counts against: an account, the address of an anonymous client, or this process itself. */
export type Party = { key: string; isAnonymous: boolean };

/** Work outside of any request: housekeeping, deliveries, jobs. */
const BACKGROUND: Party = { key: "background", isAnonymous: false };

/**
 * The caller of the current request: the client's address, until a door says which account it is. It is read from the request's context,
 * so that no operation has to pass it on.
 */
export function currentParty(): Party {
  const context = requestContext.getStore();
  if (!context) return BACKGROUND;
  // One customer may have a /48: counted by /64 networks, one connection could be as many callers as there are slots.
  context.party ??= { key: `address ${addressKey(context.ip ?? null, 48) ?? "unknown"}`, isAnonymous: true };
  return context.party;
}

/** What a request can count against. `platform`: the operator created it to publish events. `receivers`: Spaces that webhooks post to. */
type Counted =
  | Pick<Person | TokenHolder, "kind" | "userId">
  | Pick<Publisher, "kind" | "trustedById">
  | { kind: "platform"; id: string }
  | { kind: "receivers"; ofParty: string }
  | Anonymous
  | OperatorCommand;
const PLATFORM = "platform ";

export const isPlatform = ({ key }: Party): boolean => key.startsWith(PLATFORM);

/** For doors: from now on this request counts against `actor`, whichever address it came from. */
export function countAgainst(actor: Counted): void {
  const context = requestContext.getStore();
  const key = keyOf(actor);
  if (context && key) context.party = { key, isAnonymous: false };
}

function keyOf(actor: Counted): string | undefined {
  if (actor.kind === "person" || actor.kind === "token") return `account ${actor.userId}`;
  // A user may trust very many publishers, with issuers of their own: counted one by one, those would hold all slots.
  if (actor.kind === "publisher") return `account ${actor.trustedById}`;
  if (actor.kind === "platform") return `${PLATFORM}${actor.id}`;
  // Separate from the account, so that programs which post to its Spaces do not delay the account itself.
  if (actor.kind === "receivers") return `receivers of ${actor.ofParty}`;
  return undefined;
}
