import { pool } from "../../db.ts";
import { log } from "../../log.ts";
import { type FannedOut, FanOutError, fanOut, type Part, parts } from "./fan-out.ts";
import { markEvents } from "./mark-events.ts";

type Failed = { times: number; notBefore: number };

/** How often to look for events that another worker began and did not finish; our own are continued at once. */
const BEGUN_POLL_MS = 2_000;

/** How often an event is tried alone before it is set aside. */
const TRIES = 3;

/**
 * Fans out round by round. An event that makes its transaction fail must not stop the others (the whole batch is rolled back):
 * the events of a failed batch are tried one by one. The one that fails alone is skipped for a while, and set aside if its own
 * data is at fault.
 */
export class FanOutRounds {
  readonly #failed = new Map<string, Failed>();
  #lookForBegunAt = 0;

  /**
   * Runs one transaction for each part that may have work.
   * @returns whether there may be more to do at once
   * @throws if the database cannot be reached
   */
  async next(): Promise<boolean> {
    let isMore = false;
    for (const part of parts) {
      if (part.part === "begun" && performance.now() < this.#lookForBegunAt) continue;
      const fannedOut = await this.#run(part);
      isMore = fannedOut.isMore || isMore;
      if (part.part === "begun") this.#lookForBegunAt = fannedOut.isMore ? 0 : performance.now() + BEGUN_POLL_MS;
      else if (fannedOut.begun > 0) this.#lookForBegunAt = 0;
    }
    return isMore;
  }

  async #run(part: Part): Promise<FannedOut> {
    try {
      return await fanOut(part, { except: this.#resting() });
    } catch (error) {
      if (!(error instanceof FanOutError) || error.eventIds.length === 0) throw error;
      for (const id of error.eventIds) await this.#runAlone(part, id);
      return { events: 0, deliveries: 0, begun: 1, isMore: true };
    }
  }

  async #runAlone(part: Part, id: string): Promise<void> {
    try {
      await fanOut(part, { only: [id] });
      this.#failed.delete(id);
    } catch (error) {
      if (!(error instanceof FanOutError) || error.eventIds.length === 0) throw error;
      await this.#noteFailure(id, error.cause as Error);
    }
  }

  async #noteFailure(id: string, error: Error): Promise<void> {
    const times = (this.#failed.get(id)?.times ?? 0) + 1;
    log().warn({ err: error, eventId: id, times }, "an event cannot be fanned out; trying again");
    if (times < TRIES || !isOfItsData(error)) {
      this.#failed.set(id, { times, notBefore: Date.now() + Math.min(60_000, 1_000 * 2 ** times) });
      return;
    }
    this.#failed.delete(id);
    log().error({ err: error, eventId: id }, "an event cannot be used and is set aside");
    await markEvents(pool(), { done: [], begun: new Map(), unusable: new Map([[id, error.message]]) });
  }

  #resting(now = Date.now()): string[] {
    return [...this.#failed].filter(([, { notBefore }]) => notBefore > now).map(([id]) => id);
  }
}

/** Postgres errors about the given values: data exceptions and violated constraints. No other error is the event's fault. */
function isOfItsData(error: Error): boolean {
  return "code" in error && /^(22|23)...$/.test(String(error.code));
}
