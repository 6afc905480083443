import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "./env.ts";
import { log } from "./log.ts";
import { secondConnectionsSeen } from "./telemetry.ts";

/**
 * Whoever holds a connection of the pool must not ask the pool for another. Ten requests that do so at once wait for each other, and with
 * them every request of the process, until they give up. Neither Postgres nor the pool sees that deadlock: each of them waits in Node.
 */
export class SecondConnectionError extends Error {
  override name = "SecondConnectionError";
}

// One for the process: each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
type Hold = { isOver: boolean };
const keeper = globalThis as typeof globalThis & { keyhookHeldConnection?: AsyncLocalStorage<Hold> };
keeper.keyhookHeldConnection ??= new AsyncLocalStorage();
const holds = keeper.keyhookHeldConnection;

/** Runs `work` as the holder of a connection, in a transaction for example. */
export async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const hold = { isOver: false };
  try {
    return await holds.run(hold, work);
  } finally {
    // What the work began and did not wait for, a timer say, goes on in the same context and may use the pool from now on.
    hold.isOver = true;
  }
}

/**
 * Asked before the pool is used. In production it only says so in the log: the request is more likely to succeed than not.
 * @throws SecondConnectionError in tests and development, where this context holds a connection
 */
export function requireNoneHeld(): void {
  const hold = holds.getStore();
  if (hold && !hold.isOver) refuseSecond();
}

const MOST_LOGGED = 50;
const logged = new Set<string>();

function refuseSecond(): void {
  const error = new SecondConnectionError(
    "This holds a connection and asks the pool for another one. Hand on the transaction's (`tx`).",
  );
  secondConnectionsSeen.publish(error);
  if (env().NODE_ENV !== "production") throw error;
  // Once for each place in the code, since it may happen with every request.
  const place = error.stack ?? "";
  if (logged.has(place) || logged.size >= MOST_LOGGED) return;
  logged.add(place);
  log().error({ err: error }, "a transaction asked for a second connection");
}
