import { ServiceError } from "../errors.ts";
import { requestContext } from "../log.ts";
import type { Release } from "./fair-queue.ts";
import { currentParty, type Party } from "./party.ts";
import { Share } from "./share.ts";

export const SMALL_BODY_BYTES = 64 * 1024;

/** Parsing takes further memory, but only for one body at a time. */
const BUDGET_BYTES = 256 * 1024 * 1024;
const ANONYMOUS_BYTES = BUDGET_BYTES / 2;
const RETRY_AFTER_SECONDS = 5;

/** A body that does not fit is refused, because a waiting body would hold memory. */
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

// The budget is for the whole process, but each bundle of Next has its own instance of this module.
const keeper = globalThis as typeof globalThis & { keyhookBodyBudget?: BodyBudget; keyhookAnswerBudget?: BodyBudget };
keeper.keyhookBodyBudget ??= new BodyBudget();
export const bodyBudget = keeper.keyhookBodyBudget;
keeper.keyhookAnswerBudget ??= new BodyBudget();
export const answerBudget = keeper.keyhookAnswerBudget;

/** The memory is held until the request has been answered. */
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

/** The first 64 KiB are not counted. Create a `BodyRoom` before the body arrives. */
export class BodyRoom {
  #heldBytes = SMALL_BODY_BYTES;
  #hold: ((bytes: number) => void) | undefined;

  widen(toBytes: number): void {
    if (toBytes <= this.#heldBytes) return;
    this.#hold ??= bodyHolder();
    this.#hold(toBytes - this.#heldBytes);
    this.#heldBytes = toBytes;
  }

  grow(toBytes: number): void {
    this.widen(Math.ceil(toBytes / SMALL_BODY_BYTES) * SMALL_BODY_BYTES);
  }
}
