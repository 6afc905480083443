import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "./env.ts";
import { log } from "./log.ts";
import { secondConnectionsSeen } from "./telemetry.ts";

/**
 * Enough holders that request a second connection wait for each other until they time out. Neither Postgres nor the pool detects
 * that deadlock.
 */
class SecondConnectionError extends Error {
  override name = "SecondConnectionError";
}

// Each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
type Hold = { isOver: boolean };
const keeper = globalThis as typeof globalThis & { keyhookHeldConnection?: AsyncLocalStorage<Hold> };
keeper.keyhookHeldConnection ??= new AsyncLocalStorage();
const holds = keeper.keyhookHeldConnection;

export async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const hold = { isOver: false };
  try {
    return await holds.run(hold, work);
  } finally {
    // A timer, for example, may use the pool from now on.
    hold.isOver = true;
  }
}

/** In production only logs, because the request will probably succeed. */
export function requireNoneHeld(): void {
  const hold = holds.getStore();
  if (hold && !hold.isOver) refuseSecond();
}

const MOST_LOGGED = 50;
const logged = new Set<string>();

function refuseSecond(): void {
  const error = new SecondConnectionError(
    "This code holds a connection and requests another one from the pool. Pass on the transaction's client (`tx`).",
  );
  secondConnectionsSeen.publish(error);
  if (env().NODE_ENV !== "production") throw error;
  // Logged once for each place, because the error may happen with every request.
  const place = error.stack ?? "";
  if (logged.has(place) || logged.size >= MOST_LOGGED) return;
  logged.add(place);
  log().error({ err: error }, "a transaction requested a second connection");
}
