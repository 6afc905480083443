import type { Anonymous, OperatorCommand, Person, Publisher, TokenHolder } from "../access/actor.ts";
import { addressKey } from "../accounts/address-key.ts";
import { requestContext } from "../log.ts";

/** The caller that a slot counts against: for example an account, the address of an anonymous client, or this process itself. */
export type Party = { key: string; isAnonymous: boolean };

/** Work outside of any request: housekeeping, deliveries, jobs. */
const BACKGROUND: Party = { key: "background", isAnonymous: false };

/**
 * The caller of this request: the client's address, or the account once the client has authenticated. It is kept in the context, so that
 * operations need not pass it on.
 */
export function currentParty(): Party {
  const context = requestContext.getStore();
  if (!context) return BACKGROUND;
  // One customer may have a /48: counted by /64 networks, one connection could be as many callers as there are slots.
  context.party ??= { key: `address ${addressKey(context.ip ?? null, 48) ?? "unknown"}`, isAnonymous: true };
  return context.party;
}

/** A caller that a request counts against. `platform`: the operator created it to publish events. `receivers`: Spaces that webhooks post to. */
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

/**
 * Charges the caller of the current request, once the request has been answered, for work that the request's size does not show
 * (server/pace-request.ts).
 */
export function countWork(workMs: number): void {
  const context = requestContext.getStore();
  if (context) context.workMs = (context.workMs ?? 0) + workMs;
}

function keyOf(actor: Counted): string | undefined {
  if (actor.kind === "person" || actor.kind === "token") return `account ${actor.userId}`;
  // A user may trust very many publishers, with issuers of their own: counted separately, their jobs could occupy all slots.
  if (actor.kind === "publisher") return `account ${actor.trustedById}`;
  if (actor.kind === "platform") return `${PLATFORM}${actor.id}`;
  // Separate from the account, so that programs which post to its Spaces do not delay the account itself.
  if (actor.kind === "receivers") return `receivers of ${actor.ofParty}`;
  return undefined;
}

const YIELDED_MS = 10 * 60_000;
const YIELDED_MAX = 10_000;

/** Callers that recently had to yield a slot: for a while they are served after those that did not. */
export class YieldedParties {
  /** The time until which a caller counts, by key; oldest first. */
  readonly #until = new Map<string, number>();

  add(key: string): void {
    this.#until.delete(key);
    this.#until.set(key, Date.now() + YIELDED_MS);
    const oldest = this.#until.size > YIELDED_MAX ? this.#until.keys().next().value : undefined;
    if (oldest !== undefined) this.#until.delete(oldest);
  }

  has({ key }: Party): boolean {
    return (this.#until.get(key) ?? 0) > Date.now();
  }
}
