import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "./env.ts";
import { log } from "./log.ts";
import { secondConnectionsSeen } from "./telemetry.ts";

/**
 * If enough holders of a connection request another one, they wait for each other, and no request is answered. Postgres cannot
 * detect this deadlock, because the requests wait in Node.
 */
class SecondConnectionError extends Error {
  override name = "SecondConnectionError";
}

// There is one store per process, because each bundle of Next has its own instance of this module.
type Hold = { isOver: boolean };
const keeper = globalThis as typeof globalThis & { keyhookHeldConnection?: AsyncLocalStorage<Hold> };
keeper.keyhookHeldConnection ??= new AsyncLocalStorage();
const holds = keeper.keyhookHeldConnection;

export async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const hold = { isOver: false };
  try {
    return await holds.run(hold, work);
  } finally {
    // Work that was started but not awaited continues in this context, and may use the pool after this.
    hold.isOver = true;
  }
}

/** In production, this only logs, because the request will probably succeed. */
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
  const place = error.stack ?? "";
  if (logged.has(place) || logged.size >= MOST_LOGGED) return;
  logged.add(place);
  log().error({ err: error }, "a transaction requested a second connection");
}
