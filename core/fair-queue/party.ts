import type { Anonymous, OperatorCommand, Person, Publisher, TokenHolder } from "../access/actor.ts";
import { addressKey } from "../accounts/address-key.ts";
import { requestContext } from "../log.ts";

export type Party = { key: string; isAnonymous: boolean };

const BACKGROUND: Party = { key: "background", isAnonymous: false };

export function currentParty(): Party {
  const context = requestContext.getStore();
  if (!context) return BACKGROUND;
  // An address counts by its /48, because a customer with a /48 would otherwise be many callers.
  context.party ??= { key: `address ${addressKey(context.ip ?? null, 48) ?? "unknown"}`, isAnonymous: true };
  return context.party;
}

/** The operator creates a `platform`, which publishes events. Webhooks post to Spaces as `receivers`. */
type Counted =
  | Pick<Person | TokenHolder, "kind" | "userId">
  | Pick<Publisher, "kind" | "trustedById">
  | { kind: "platform"; id: string }
  | { kind: "receivers"; ofParty: string }
  | Anonymous
  | OperatorCommand;
const PLATFORM = "platform ";

export const isPlatform = ({ key }: Party): boolean => key.startsWith(PLATFORM);

export function countAgainst(actor: Counted): void {
  const context = requestContext.getStore();
  const key = keyOf(actor);
  if (context && key) context.party = { key, isAnonymous: false };
}

export function countWork(workMs: number): void {
  const context = requestContext.getStore();
  if (context) context.workMs = (context.workMs ?? 0) + workMs;
}

function keyOf(actor: Counted): string | undefined {
  if (actor.kind === "person" || actor.kind === "token") return `account ${actor.userId}`;
  // A user may trust many publishers, whose jobs together could occupy all slots.
  if (actor.kind === "publisher") return `account ${actor.trustedById}`;
  if (actor.kind === "platform") return `${PLATFORM}${actor.id}`;
  // Programs that post to an account's Spaces must not delay the account.
  if (actor.kind === "receivers") return `receivers of ${actor.ofParty}`;
  return undefined;
}

const YIELDED_MS = 10 * 60_000;
const YIELDED_MAX = 10_000;

export class YieldedParties {
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
