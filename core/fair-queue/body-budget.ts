import { ServiceError } from "../errors.ts";
import { requestContext } from "../log.ts";
import type { Release } from "./fair-queue.ts";
import { currentParty, type Party } from "./party.ts";
import { Share } from "./share.ts";

/** A body of this size contains a few fields. It costs hardly more than its connection, and is read even if its sender is not signed in. */
export const SMALL_BODY_BYTES = 64 * 1024;

/** The memory for all buffered bodies together. Parsing needs more, for one body at a time. */
const BUDGET_BYTES = 256 * 1024 * 1024;
const ANONYMOUS_BYTES = BUDGET_BYTES / 2;
const RETRY_AFTER_SECONDS = 5;

/**
 * The memory for bodies that are buffered until they are complete. Callers share it as they share the slots of a queue (share.ts): no
 * caller gets all of it, and anonymous callers have half of it together. A body that does not fit is refused and does not wait: while
 * waiting it would hold its connection and the part that has arrived.
 */
export class BodyBudget {
  readonly #all: Share;
  readonly #anonymous: Share;

  constructor({ bytes = BUDGET_BYTES, anonymousBytes = ANONYMOUS_BYTES } = {}) {
    this.#all = new Share(bytes);
    this.#anonymous = new Share(anonymousBytes);
  }

  get takenBytes(): number {
    return this.#all.taken;
  }

  /** @throws ServiceError `unavailable` when the caller, or all callers together, hold too much */
  take(bytes: number, { key, isAnonymous }: Party = currentParty()): Release {
    if (!this.#all.admits(key, undefined, bytes) || (isAnonymous && !this.#anonymous.admits(key, undefined, bytes))) {
      throw new ServiceError("unavailable", "Too many large requests are in progress. Try again in a few seconds.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#all.take(key, undefined, bytes);
    if (isAnonymous) this.#anonymous.take(key, undefined, bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#all.giveBack(key, undefined, bytes);
      if (isAnonymous) this.#anonymous.giveBack(key, undefined, bytes);
    };
  }
}

// One for the process: the API and pages share it, and each bundle of Next creates its own module instances.
const keeper = globalThis as typeof globalThis & { keyhookBodyBudget?: BodyBudget; keyhookAnswerBudget?: BodyBudget };
keeper.keyhookBodyBudget ??= new BodyBudget();
export const bodyBudget = keeper.keyhookBodyBudget;
/** The budget for responses that wait for their readers (server/limit-time.ts). */
keeper.keyhookAnswerBudget ??= new BodyBudget();
export const answerBudget = keeper.keyhookAnswerBudget;

/**
 * Counts the body of the current request. The returned function takes memory each time that more of the body arrives; all of it is released
 * when the request has been answered. Outside of requests nothing is counted.
 * @throws ServiceError `unavailable`, from the returned function
 */
export function bodyHolder(party?: Party): (bytes: number) => void {
  const whenClosed = requestContext.getStore()?.whenClosed;
  if (!whenClosed) return () => undefined;
  const releases: Release[] = [];
  let isOver = false;
  whenClosed(() => {
    isOver = true;
    for (const release of releases) release();
  });
  return (bytes) => {
    if (!isOver) releases.push(bodyBudget.take(bytes, party));
  };
}

/** The memory that one request's body uses until it is answered; the first 64 KiB are free. Create it before the body arrives. */
export class BodyRoom {
  #heldBytes = SMALL_BODY_BYTES;
  #hold: ((bytes: number) => void) | undefined;

  /** Holds `toBytes` in total, and never less than before. @throws ServiceError `unavailable` */
  widen(toBytes: number): void {
    if (toBytes <= this.#heldBytes) return;
    this.#hold ??= bodyHolder();
    this.#hold(toBytes - this.#heldBytes);
    this.#heldBytes = toBytes;
  }

  /** Widens in steps, for a growing body, so that the budget is not updated for each of many small chunks. */
  grow(toBytes: number): void {
    this.widen(Math.ceil(toBytes / SMALL_BODY_BYTES) * SMALL_BODY_BYTES);
  }
}
