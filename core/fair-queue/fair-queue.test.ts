import { beforeEach, describe, expect, test } from "vitest";
import { requestContext } from "../log.ts";
import { FairQueue, fairQueue, type Slot } from "./fair-queue.ts";
import { countAgainst, currentParty, type Party } from "./party.ts";

const account = (name: string): Party => ({ key: `account ${name}`, isAnonymous: false });
const address = (name: string): Party => ({ key: `address ${name}`, isAnonymous: true });

class Observed {
  readonly queue: FairQueue;
  readonly held: { party: Party; within: string | undefined; release: Slot }[] = [];
  readonly served: string[] = [];
  readonly refused: string[] = [];

  constructor(options: Partial<ConstructorParameters<typeof FairQueue>[0]> = {}) {
    this.queue = new FairQueue({ name: "test", slots: 8, ...options });
  }

  async ask(party: Party, within?: string): Promise<void> {
    void this.queue.take({ party, ...(within !== undefined && { within }) }).then(
      (release) => {
        this.served.push(within === undefined ? party.key : `${party.key} ${within}`);
        this.held.push({ party, within, release });
      },
      (error: Error) => void this.refused.push(`${party.key}: ${error.message}`),
    );
    await settled();
  }

  async askTimes(count: number, party: Party, within?: string): Promise<void> {
    for (let each = 0; each < count; each++) await this.ask(party, within);
  }

  heldBy(party: Party, within?: string): number {
    return this.held.filter((one) => one.party.key === party.key && (within === undefined || one.within === within)).length;
  }

  async end(index = 0): Promise<void> {
    this.held.splice(index, 1)[0]?.release();
    await settled();
  }
}

const settled = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

let seen: Observed;
beforeEach(() => {
  seen = new Observed();
});

describe("S137 one party leaves slots for others", () => {
  test("one party alone gets half of the slots, and a newcomer gets a slot at once", async () => {
    await seen.askTimes(40, account("greedy"));
    expect(seen.heldBy(account("greedy"))).toBe(4);
    await seen.ask(account("newcomer"));
    expect(seen.heldBy(account("newcomer"))).toBe(1);
  });

  test("anonymous callers together get their share, and one address gets half of that share", async () => {
    await seen.askTimes(10, address("one"));
    expect(seen.heldBy(address("one"))).toBe(2);
    for (let each = 0; each < 20; each++) await seen.ask(address(`other${each}`));
    expect(seen.queue.counts.taken).toBe(4);
    await seen.ask(account("ada"));
    expect(seen.heldBy(account("ada"))).toBe(1);
  });

  test("requests for one repository leave slots for other repositories of every party", async () => {
    seen = new Observed({ slots: 32 });
    await seen.askTimes(66, address("one"), "hostile");
    await seen.ask(address("one"), "quiet");
    expect(seen.heldBy(address("one"), "quiet")).toBe(1);
    for (let each = 0; each < 100; each++) await seen.ask(address(`bot${each}`), "hostile");
    await seen.ask(address("visitor"), "quiet");
    expect(seen.heldBy(address("visitor"), "quiet")).toBe(1);
  });

  test("with a single slot, everybody is still served", async () => {
    seen = new Observed({ slots: 1 });
    await seen.askTimes(3, address("one"), "a");
    await seen.ask(account("ada"), "b");
    for (let each = 0; each < 4; each++) await seen.end();
    expect(seen.served).toEqual(["address one a", "account ada b", "address one a", "address one a"]);
  });
});

describe("S137 waiting parties are served in turn", () => {
  test("one account's hundred requests delay a newcomer by at most one slot", async () => {
    seen = new Observed({ slots: 4, waitingMax: 100 });
    const others = ["a", "b", "c"].map(account);
    for (const other of others) await seen.ask(other);
    await seen.askTimes(100, account("greedy"));
    expect(seen.queue.counts).toMatchObject({ taken: 4, waiting: 99 });
    await seen.ask(account("newcomer"));
    const before = seen.served.length;
    await seen.end();
    await seen.end();
    expect(seen.served.slice(before)).toContain("account newcomer");
  });

  test("within a party, the repositories are served in turn", async () => {
    seen = new Observed({ slots: 1 });
    await seen.ask(account("other"));
    await seen.askTimes(3, account("ada"), "large");
    await seen.ask(account("ada"), "small");
    for (let each = 0; each < 5; each++) await seen.end();
    expect(seen.served.slice(1)).toEqual(["account ada large", "account ada small", "account ada large", "account ada large"]);
  });
});

describe("S137 slow holders yield to waiting parties", () => {
  const slow = Array.from({ length: 240 }, (_, each) => address(`slow${each}`));

  async function tick(): Promise<void> {
    for (const one of seen.held.filter(({ party, release }) => party.key.includes("slow") && release.mustYield())) {
      await seen.end(seen.held.indexOf(one));
      await seen.ask(one.party);
    }
  }

  test("ten times as many slow parties as slots do not shut newcomers out", async () => {
    seen = new Observed({ slots: 48, waitMaxMs: 60_000 });
    for (const party of slow) await seen.ask(party);
    expect(seen.queue.counts).toMatchObject({ taken: 24, waiting: 216 });
    for (let each = 0; each < 10; each++) await tick();
    for (let each = 0; each < 20; each++) {
      const newcomer = address(`newcomer${each}`);
      await seen.ask(newcomer);
      await tick();
      expect(seen.heldBy(newcomer)).toBe(1);
    }
  });

  test("a holder yields only to waiting requests of another party", async () => {
    seen = new Observed({ slots: 4 });
    await seen.askTimes(9, account("slow"));
    const yielding = () => seen.held.filter(({ release }) => release.mustYield()).length;
    expect(yielding()).toBe(0);
    await seen.ask(account("a"));
    await seen.ask(account("b"));
    await seen.ask(account("c"));
    expect(seen.queue.counts.taken).toBe(4);
    expect(seen.heldBy(account("c"))).toBe(0);
    expect(yielding()).toBeGreaterThan(0);
    for (const { release } of [...seen.held]) release();
    await settled();
    expect(seen.heldBy(account("c"))).toBe(1);
  });
});

describe("requests that cannot be served", () => {
  test("S51 a caller with a full queue is told what to do, and other callers can still queue", async () => {
    seen = new Observed({ slots: 2, waitingMax: 3 });
    await seen.askTimes(5, account("greedy"));
    expect(seen.refused).toEqual([expect.stringMatching(/^account greedy: Too many of your requests of this kind are waiting/)]);
    expect(seen.queue.counts).toEqual({ taken: 1, waiting: 3, refused: 1 });
    await seen.ask(account("newcomer"));
    await seen.ask(account("third"));
    expect(seen.queue.counts).toEqual({ taken: 2, waiting: 4, refused: 1 });
    const refusal = await seen.queue.take({ party: account("greedy") }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "unavailable", retryAfterSeconds: 5 });
  });

  test("waiting ends after a time limit", async () => {
    seen = new Observed({ slots: 1, waitMaxMs: 5 });
    await seen.ask(account("a"));
    await expect(seen.queue.take({ party: account("b") })).rejects.toMatchObject({ code: "unavailable" });
    expect(seen.queue.counts).toEqual({ taken: 1, waiting: 0, refused: 1 });
    await seen.end();
    await seen.ask(account("b"));
    expect(seen.heldBy(account("b"))).toBe(1);
  });

  test("when all lines together are full, the longest line loses a request", async () => {
    seen = new Observed({ slots: 1, waitingMax: 10 });
    await seen.ask(account("holder"));
    for (let each = 0; each < 8; each++) await seen.askTimes(10, account(`greedy${each}`));
    expect(seen.queue.counts.waiting).toBe(80);
    await seen.ask(account("newcomer"));
    expect(seen.queue.counts).toEqual({ taken: 1, waiting: 80, refused: 1 });
    expect(seen.refused).toHaveLength(1);
    expect(seen.refused[0]).toMatch(/greedy/);
  });

  test("S137 very many waiting addresses do not keep accounts out of the queue", async () => {
    seen = new Observed({ slots: 1, waitingMax: 10 });
    await seen.ask(account("holder"));
    for (let each = 0; each < 200; each++) await seen.ask(address(`bot${each}`));
    expect(seen.queue.counts.waiting).toBe(80);
    await seen.ask(account("ada"));
    await seen.end();
    await seen.end();
    expect(seen.served).toContain("account ada");
  });

  test("a closed request leaves the queue", async () => {
    seen = new Observed({ slots: 1 });
    await seen.ask(account("a"));
    const listeners: (() => void)[] = [];
    const whenClosed = (listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    };
    const waiting = requestContext.run({ requestId: "test", ip: "192.0.2.1", whenClosed }, () => seen.queue.take());
    expect(seen.queue.counts.waiting).toBe(1);
    for (const listener of listeners) listener();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    expect(seen.queue.counts).toEqual({ taken: 1, waiting: 0, refused: 0 });
  });
});

test("a slot is released once, whatever happens to the work", async () => {
  const { queue } = seen;
  await expect(queue.run(() => Promise.reject(new Error("broken")), { party: account("a") })).rejects.toThrow("broken");
  const release = await queue.take({ party: account("a") });
  release();
  release();
  expect(queue.counts.taken).toBe(0);
});

function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe("S137 with any requests in any order", () => {
  test.each(Array.from({ length: 30 }, (_, seed) => [seed]))(
    "no limit is exceeded, and a newcomer gets a free slot: seed %i",
    async (seed) => {
      const random = numbers(seed);
      const slots = 1 + random(12);
      seen = new Observed({ slots, waitingMax: 1_000 });
      const parties = Array.from({ length: 2 + random(6) }, (_, index) =>
        random(2) === 0 ? account(`${index}`) : address(`${index}`),
      );
      const anonymousMax = Math.max(1, Math.floor(slots / 2));
      let asked = 0;
      for (let step = 0; step < 100; step++) {
        const party = parties[random(parties.length)] as Party;
        if (random(3) > 0) {
          asked++;
          await seen.ask(party, random(3) === 0 ? undefined : `r${random(4)}`);
        } else if (seen.held.length > 0) await seen.end(random(seen.held.length));

        const taken = seen.held.length;
        expect(seen.queue.counts).toEqual({ taken, waiting: asked - seen.served.length, refused: 0 });
        expect(taken).toBeLessThanOrEqual(slots);
        expect(seen.held.filter((one) => one.party.isAnonymous).length).toBeLessThanOrEqual(anonymousMax);
        const newcomer = account(`newcomer${step}`);
        if (taken < slots) {
          await seen.ask(newcomer);
          asked++;
          expect(seen.heldBy(newcomer)).toBe(1);
          await seen.end(seen.held.length - 1);
        }
        for (const one of parties) expect(seen.heldBy(one)).toBeLessThanOrEqual(Math.max(1, Math.ceil(slots / 2)));
      }
      while (seen.held.length > 0) await seen.end(random(seen.held.length));
      expect(seen.served).toHaveLength(asked);
      expect(seen.queue.counts).toEqual({ taken: 0, waiting: 0, refused: 0 });
    },
  );

  test.each(Array.from({ length: 10 }, (_, seed) => [seed]))(
    "among parties that always have more work, none gets more than twice as many turns as another: seed %i",
    async (seed) => {
      const random = numbers(seed);
      const count = 2 + random(5);
      seen = new Observed({ slots: 1 + random(8), waitingMax: 10_000 });
      for (let party = 0; party < count; party++) await seen.askTimes(100 + random(200), account(`${party}`), "r");
      const from = seen.served.length;
      for (let turn = 0; turn < 40 * count; turn++) await seen.end();
      const turns = seen.served.slice(from);
      const each = Array.from({ length: count }, (_, party) => turns.filter((name) => name === `account ${party} r`).length);
      expect(Math.max(...each)).toBeLessThanOrEqual(2 * Math.min(...each));
    },
  );
});

describe("the party of a request", () => {
  test("is its address, by IPv6 /48, until its account is known", () => {
    expect(currentParty()).toEqual({ key: "background", isAnonymous: false });
    requestContext.run({ requestId: "test", ip: "2001:db8:1:2:3::4" }, () => {
      expect(currentParty()).toEqual({ key: "address 2001:db8:1::/48", isAnonymous: true });
      countAgainst({ kind: "token", userId: "u1" });
      expect(currentParty()).toEqual({ key: "account u1", isAnonymous: false });
    });
    requestContext.run({ requestId: "test" }, () => expect(currentParty().isAnonymous).toBe(true));
  });
});

test("queues with the same name are the same queue", () => {
  const one = fairQueue({ name: "test_one", slots: 1 });
  expect(fairQueue({ name: "test_one", slots: 5 })).toBe(one);
});

test("a request for a slot that outlives its client's request keeps its place in the line", async () => {
  const queue = new FairQueue({ name: "kept", slots: 1 });
  const slot = await queue.take({ party: account("one") });
  const closed: (() => void)[] = [];
  const whenClosed = (listener: () => void) => {
    closed.push(listener);
    return () => {};
  };
  const context = { requestId: "test", party: account("two"), whenClosed };
  const [gone, kept] = requestContext.run(context, () => [queue.take(), queue.take({ outlivesRequest: true })]);
  for (const close of closed) close();
  await expect(gone).rejects.toMatchObject({ code: "unavailable" });
  slot();
  (await kept)();
});

test("a slot that many holders use in quick succession lets the event loop run in between", async () => {
  const queue = new FairQueue({ name: "hands", slots: 1 });
  const release = await queue.take({ party: account("first") });
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const hands = Array.from({ length: 50 }, (_, at) => queue.run(() => undefined, { party: account(`${at}`) }));
  release();
  await Promise.all(hands);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(45);
});
