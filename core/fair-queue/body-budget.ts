import { ServiceError } from "../errors.ts";
import { requestContext } from "../log.ts";
import type { Release } from "./fair-queue.ts";
import { currentParty, type Party } from "./party.ts";
import { Share } from "./share.ts";

/** A body of this size is a few fields. It costs hardly more than its connection does, and nobody needs a token for it. */
export const SMALL_BODY_BYTES = 64 * 1024;

/** What all bodies that are kept whole may take in memory at the same time. What they are parsed into comes on top, one at a time. */
const BUDGET_BYTES = 256 * 1024 * 1024;
const ANONYMOUS_BYTES = BUDGET_BYTES / 2;
const RETRY_AFTER_SECONDS = 5;

/**
 * The memory for bodies that are kept until they are complete, shared among parties as places in a queue are (share.ts): nobody takes
 * all of it, and those who are not signed in have half of it together. It is refused and not waited for: whoever waits here would
 * hold the connection, with what it has sent already.
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

  /** @throws ServiceError `unavailable` when the party, or all together, hold too much */
  take(bytes: number, { key, isAnonymous }: Party = currentParty()): Release {
    if (!this.#all.admits(key, undefined, bytes) || (isAnonymous && !this.#anonymous.admits(key, undefined, bytes))) {
      throw new ServiceError("unavailable", "Too many large requests are arriving. Let some of yours finish, then try again.", {
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

// One for the process: the API and pages share it, and each bundle of Next makes its own module instances.
const keeper = globalThis as typeof globalThis & { keyhookBodyBudget?: BodyBudget; keyhookAnswerBudget?: BodyBudget };
keeper.keyhookBodyBudget ??= new BodyBudget();
export const bodyBudget = keeper.keyhookBodyBudget;
/** The same for answers that wait for their readers (server/limit-time.ts). */
keeper.keyhookAnswerBudget ??= new BodyBudget();
export const answerBudget = keeper.keyhookAnswerBudget;

/**
 * For the body of the current request: what it returns takes memory, as often as more of it comes, and all of that is given back when
 * the request has been answered. Nothing is counted outside of requests.
 * @throws ServiceError `unavailable`, out of what it returns
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

/**
 * What one request holds of the memory for bodies, until it has been answered. The first 64 KiB are free. Make one per request, before
 * its body arrives.
 */
export class BodyRoom {
  #heldBytes = SMALL_BODY_BYTES;
  #hold: ((bytes: number) => void) | undefined;

  /** Holds room for `toBytes` in all; it never holds less than before. @throws ServiceError `unavailable` */
  widen(toBytes: number): void {
    if (toBytes <= this.#heldBytes) return;
    this.#hold ??= bodyHolder();
    this.#hold(toBytes - this.#heldBytes);
    this.#heldBytes = toBytes;
  }

  /** The same for a body that grows: in steps, so that a body of many small chunks is not counted for each of them. */
  grow(toBytes: number): void {
    this.widen(Math.ceil(toBytes / SMALL_BODY_BYTES) * SMALL_BODY_BYTES);
  }
}
