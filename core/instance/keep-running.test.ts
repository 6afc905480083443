import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { keepRunning, type Running } from "./keep-running.ts";

class Thing implements Running<string> {
  readonly exited: Promise<string>;
  isStopped = false;
  readonly #end: (how: string) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.exited = promise;
    this.#end = resolve;
  }

  crash(): void {
    this.#end("crashed");
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.#end("stopped");
  }
}

async function keep(start: () => Promise<Thing>, crashed?: (exit: string) => void) {
  const kept = await keepRunning<string, Thing>("thing", start, crashed);
  onTestFinished(() => kept.stop());
  return kept;
}

describe("keepRunning", () => {
  it("restarts crashed processes with growing delays, and reports each crash", async () => {
    const startedAt: number[] = [];
    const exits: string[] = [];
    const start = async () => {
      startedAt.push(Date.now());
      const thing = new Thing();
      if (startedAt.length < 4) setTimeout(() => thing.crash(), 5);
      return thing;
    };
    await keep(start, (exit) => exits.push(exit));
    await vi.waitFor(() => expect(startedAt).toHaveLength(4), 5_000);
    expect(exits).toEqual(["crashed", "crashed", "crashed"]);
    const waits = startedAt.slice(1).map((at, index) => at - (startedAt[index] as number));
    expect(waits[0]).toBeGreaterThanOrEqual(200);
    expect(waits[1]).toBeGreaterThanOrEqual(400);
    expect(waits[2]).toBeGreaterThanOrEqual(800);
  });

  it("keeps trying if a later start fails, but fails if the first start fails", async () => {
    let starts = 0;
    const first = new Thing();
    const start = async () => {
      starts++;
      if (starts === 2) throw new Error("not now");
      return starts === 1 ? first : new Thing();
    };
    await keep(start);
    first.crash();
    await vi.waitFor(() => expect(starts).toBe(3), 5_000);
    await expect(
      keepRunning("thing", async () => {
        throw new Error("never");
      }),
    ).rejects.toThrow("never");
  });

  it("restarts at once on request, and does not count the request as a crash", async () => {
    const things: Thing[] = [];
    const crashed = vi.fn();
    const kept = await keep(async () => {
      things.push(new Thing());
      return things.at(-1) as Thing;
    }, crashed);
    await kept.restart();
    await vi.waitFor(() => expect(things).toHaveLength(2), 150);
    expect(crashed).not.toHaveBeenCalled();
  });

  it("stops for good, even while it waits for a restart", async () => {
    const things: Thing[] = [];
    const kept = await keep(async () => {
      things.push(new Thing());
      return things.at(-1) as Thing;
    });
    things[0]?.crash();
    await delay(20);
    await kept.stop();
    await delay(400);
    expect(things).toHaveLength(1);
  });

  it("stops a process that is still starting", async () => {
    const first = new Thing();
    const slow = new Thing();
    const isStarting = Promise.withResolvers<void>();
    let starts = 0;
    const kept = await keep(async () => {
      if (++starts === 1) return first;
      isStarting.resolve();
      await delay(200);
      return slow;
    });
    first.crash();
    await isStarting.promise;
    await kept.stop();
    expect(slow.isStopped).toBe(true);
  });
});
