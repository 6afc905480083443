import { setTimeout as delay } from "node:timers/promises";
import { log } from "../log.ts";

export type Running<Exit> = { exited: Promise<Exit>; stop(): Promise<void> };

export type Kept = {
  restart(): Promise<void>;
  stop(): Promise<void>;
};

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 10_000;
const STEADY_MS = 30_000;

/**
 * @param crashed is called each time that the thing ends without a request
 * @throws the failure of the first start
 */
export async function keepRunning<Exit, Thing extends Running<Exit>>(
  name: string,
  start: (previous?: Thing) => Promise<Thing>,
  crashed: (exit: Exit) => void = () => undefined,
): Promise<Kept> {
  const stopping = new AbortController();
  let isRestarting = false;
  let current = await start();
  let startedAt = Date.now();
  let wait = FIRST_DELAY_MS;

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const exit = await current.exited;
      if (stopping.signal.aborted) return;
      if (isRestarting) {
        isRestarting = false;
      } else {
        crashed(exit);
        if (Date.now() - startedAt > STEADY_MS) wait = FIRST_DELAY_MS;
        log().warn({ exit }, `the ${name} ended; starting it again`);
        await pause();
      }
      await startAgain();
    }
  }

  async function startAgain(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        current = await start(current);
        startedAt = Date.now();
        return;
      } catch (error) {
        log().error({ err: error }, `the ${name} cannot be started; trying again in ${wait} ms`);
        await pause();
      }
    }
  }

  async function pause(): Promise<void> {
    await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
    wait = Math.min(wait * 2, LONGEST_DELAY_MS);
  }

  const watching = watch();
  return {
    async restart() {
      isRestarting = true;
      await current.stop();
    },
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
      await current.stop(); // in case it was starting
    },
  };
}
