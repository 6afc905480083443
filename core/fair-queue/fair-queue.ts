import { ServiceError } from "../errors.ts";
import { requestContext } from "../log.ts";
import { currentParty, type Party, YieldedParties } from "./party.ts";
import { Share } from "./share.ts";

type FairQueueOptions = {
  name: string;
  slots: number;
  anonymousShare?: number;
  waitMaxMs?: number;
  /** The limit for one caller's waiting requests. All accounts together have eight times this limit, and so do all addresses. */
  waitingMax?: number;
};

type TakeOptions = {
  /** The ID of a resource, such as a repository. A caller's slots are shared fairly among its resources. */
  within?: string;
  party?: Party;
  waitMaxMs?: number;
  outlivesRequest?: boolean;
};

export type Release = () => void;

export type Slot = Release & {
  /** Ask when a client is slow. If the result is true, another caller waits for the slot, so end the work. */
  mustYield(): boolean;
};

type Waiter = { within: string | undefined; start: () => void; refuse: (error: ServiceError) => void };
/** `byWithin` and the maps of lines are in the order of service: what was just served moves to the end. */
type Line = { party: Party; waiting: number; byWithin: Map<string, Waiter[]> };
/** The two sides are served alternately, so that many addresses delay no account. */
type Side = { lines: Map<string, Line>; waiting: number };

const WAITING_PARTIES = 8;
const RETRY_AFTER_SECONDS = 5;

/**
 * Waiting callers are served in turn, so that a hundred requests of one caller delay another by one slot (S137).
 * Never wait for a slot while you hold one of the same queue, because that could deadlock.
 */
export class FairQueue {
  readonly name: string;
  readonly #waitMaxMs: number;
  readonly #waitingMax: number;
  readonly #all: Share;
  readonly #anonymous: Share;
  readonly #known: Side = { lines: new Map(), waiting: 0 };
  readonly #unknown: Side = { lines: new Map(), waiting: 0 };
  #sides: readonly [Side, Side] = [this.#known, this.#unknown];
  #refused = 0;
  #yielding = 0;
  readonly #yielded = new YieldedParties();

  constructor({ name, slots, anonymousShare = 0.5, waitMaxMs = 10_000, waitingMax = 64 }: FairQueueOptions) {
    this.name = name;
    this.#waitMaxMs = waitMaxMs;
    this.#waitingMax = waitingMax;
    this.#all = new Share(slots);
    this.#anonymous = new Share(Math.max(1, Math.floor(slots * anonymousShare)));
  }

  get counts(): { taken: number; waiting: number; refused: number } {
    return { taken: this.#all.taken, waiting: this.#known.waiting + this.#unknown.waiting, refused: this.#refused };
  }

  async run<T>(work: () => Promise<T> | T, options?: TakeOptions): Promise<T> {
    const release = await this.take(options);
    try {
      return await work();
    } finally {
      release();
    }
  }

  take({ within, party = currentParty(), waitMaxMs = this.#waitMaxMs, outlivesRequest }: TakeOptions = {}): Promise<Slot> {
    // No waiting request could be admitted now, so this one delays nobody.
    if (this.#admits(party, within)) return Promise.resolve(this.#hold(party, within));
    return this.#wait(party, within, waitMaxMs, outlivesRequest);
  }

  async takeUntilAnswered(options?: TakeOptions): Promise<void> {
    const request = requestContext.getStore();
    if (!request?.whenClosed) return;
    const slot = await this.take(options);
    request.mustYield = slot.mustYield;
    request.whenClosed(slot);
  }

  tryTake({ within, party = currentParty() }: TakeOptions = {}): Slot | undefined {
    return this.#admits(party, within) ? this.#hold(party, within) : undefined;
  }

  #admits({ key, isAnonymous }: Party, within: string | undefined): boolean {
    return this.#all.admits(key, within) && (!isAnonymous || this.#anonymous.admits(key, within));
  }

  #hold({ key, isAnonymous }: Party, within: string | undefined): Slot {
    this.#all.take(key, within);
    if (isAnonymous) this.#anonymous.take(key, within);
    let [isHeld, isYielding] = [true, false];
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      if (isYielding) this.#yielding -= 1;
      this.#all.giveBack(key, within);
      if (isAnonymous) this.#anonymous.giveBack(key, within);
      this.#serve();
    };
    const mustYield = () => {
      if (isHeld && !isYielding && this.#isWanted({ key, isAnonymous }, within)) {
        isYielding = true;
        this.#yielding += 1;
        this.#yielded.add(key);
      }
      return isYielding;
    };
    return Object.assign(release, { mustYield });
  }

  #isWanted({ key, isAnonymous }: Party, within: string | undefined): boolean {
    if (this.#yielding >= this.counts.waiting) return false;
    this.#all.giveBack(key, within);
    if (isAnonymous) this.#anonymous.giveBack(key, within);
    const lines = [...this.#known.lines.values(), ...this.#unknown.lines.values()];
    const isWanted = lines.some(
      ({ party, byWithin }) =>
        party.key !== key && [...byWithin.values()].some(([first]) => first && this.#admits(party, first.within)),
    );
    this.#all.take(key, within);
    if (isAnonymous) this.#anonymous.take(key, within);
    return isWanted;
  }

  #wait(party: Party, within: string | undefined, waitMaxMs: number, outlivesRequest = false): Promise<Slot> {
    const request = outlivesRequest ? undefined : requestContext.getStore();
    return new Promise((resolve, reject) => {
      if (!this.#hasRoom(party)) return reject(this.#refusal("full"));
      const timer = setTimeout(() => leave(this.#refusal("late")), waitMaxMs);
      const stopListening = request?.whenClosed?.(() => leave(new ServiceError("unavailable", "The request was closed.")));
      let isOver = false;
      const end = () => {
        isOver = true;
        clearTimeout(timer);
        stopListening?.();
        this.#remove(party, waiter);
      };
      const leave = (error: ServiceError) => {
        if (isOver) return;
        end();
        reject(error);
      };
      const waiter: Waiter = {
        within,
        refuse: leave,
        start: () => {
          end();
          const slot = this.#hold(party, within);
          // Many waiters may find nothing left to do. If all resolved in one turn of the event loop, they would block it.
          setImmediate(resolve, slot);
        },
      };
      this.#add(party, waiter);
    });
  }

  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) next();
  }

  #next(): (() => void) | undefined {
    const [one, other] = this.#sides;
    return this.#nextOf(one, other) ?? this.#nextOf(other, one);
  }

  #nextOf(side: Side, other: Side): (() => void) | undefined {
    // A slow caller queues again after each slot that it yields, and is served only when no other caller of its side can be.
    for (const isSlow of [false, true]) {
      for (const line of side.lines.values()) {
        if (this.#yielded.has(line.party) !== isSlow) continue;
        for (const [key, [first]] of line.byWithin) {
          if (!first || !this.#admits(line.party, first.within)) continue;
          return () => {
            moveToEnd(line.byWithin, key);
            moveToEnd(side.lines, line.party.key);
            this.#sides = [other, side];
            first.start();
          };
        }
      }
    }
    return undefined;
  }

  // If there is no room, the longest line loses its last request. If the new caller's line would be as long as that line, a slow
  // caller's line loses its last request instead.
  #hasRoom(party: Party): boolean {
    const { lines, waiting } = this.#sideOf(party);
    const own = lines.get(party.key)?.waiting ?? 0;
    if (own >= this.#waitingMax) return false;
    if (waiting < this.#waitingMax * WAITING_PARTIES) return true;
    const longest = [...lines.values()].reduce((one, other) => (other.waiting > one.waiting ? other : one));
    const slow =
      own > 0 || this.#yielded.has(party) ? undefined : [...lines.values()].find((line) => this.#yielded.has(line.party));
    const giving = longest.waiting > own + 1 ? longest : slow;
    [...(giving?.byWithin.values() ?? [])].at(-1)?.at(-1)?.refuse(this.#refusal("full"));
    return giving !== undefined;
  }

  #add(party: Party, waiter: Waiter): void {
    const side = this.#sideOf(party);
    const line = side.lines.get(party.key) ?? { party, waiting: 0, byWithin: new Map() };
    side.lines.set(party.key, line);
    line.waiting += 1;
    side.waiting += 1;
    const key = waiter.within ?? "";
    const waiters = line.byWithin.get(key);
    if (waiters) waiters.push(waiter);
    else line.byWithin.set(key, [waiter]);
  }

  #remove(party: Party, waiter: Waiter): void {
    const side = this.#sideOf(party);
    const line = side.lines.get(party.key) as Line;
    const key = waiter.within ?? "";
    const waiters = line.byWithin.get(key) as Waiter[];
    waiters.splice(waiters.indexOf(waiter), 1);
    line.waiting -= 1;
    side.waiting -= 1;
    if (waiters.length === 0) line.byWithin.delete(key);
    if (line.waiting === 0) side.lines.delete(party.key);
  }

  #sideOf({ isAnonymous }: Party): Side {
    return isAnonymous ? this.#unknown : this.#known;
  }

  #refusal(why: "full" | "late"): ServiceError {
    this.#refused += 1;
    return new ServiceError("unavailable", SENTENCES[why], { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

const SENTENCES = {
  full: "Too many of your requests of this kind are waiting. Wait until some of them finish, then try again.",
  late: "The service is busy with other requests of this kind. Try again in a few seconds.",
};

function moveToEnd<T>(map: Map<string, T>, key: string): void {
  const value = map.get(key) as T;
  map.delete(key);
  map.set(key, value);
}

// The queues are for the whole process, but each bundle of Next has its own instance of this module.
const keeper = globalThis as typeof globalThis & { keyhookFairQueues?: Map<string, FairQueue> };
keeper.keyhookFairQueues ??= new Map();
const queues = keeper.keyhookFairQueues;

export function fairQueue(options: FairQueueOptions): FairQueue {
  const queue = queues.get(options.name) ?? new FairQueue(options);
  queues.set(options.name, queue);
  return queue;
}

export const fairQueues = (): Iterable<FairQueue> => queues.values();
