import type pg from "pg";
import { requestContext } from "../log.ts";

// Results are kept for a moment, because every page checks before it renders.
const FRESH_MS = 500;
const PROBE_TIMEOUT_MS = 2_000;

type State = { isUp: boolean; at: number; probe: Promise<boolean> | undefined };
const states = new WeakMap<pg.Pool, State>();

function stateOf(connections: pg.Pool): State {
  let state = states.get(connections);
  if (!state) {
    const made: State = { isUp: false, at: 0, probe: undefined };
    states.set(connections, made);
    // An idle connection that breaks is the earliest sign.
    connections.on("error", () => {
      made.at = 0;
    });
    state = made;
  }
  return state;
}

/** Never throws. */
export async function isDatabaseUp(connections: pg.Pool): Promise<boolean> {
  const state = stateOf(connections);
  if (Date.now() - state.at < FRESH_MS) return state.isUp;
  // If all connections are busy, the database is under load, not unavailable.
  if (connections.waitingCount > 0 && state.isUp) return true;
  state.probe ??= probe(connections).then((isUp) => {
    Object.assign(state, { isUp, at: Date.now(), probe: undefined });
    return isUp;
  });
  return state.probe;
}

async function probe(connections: pg.Pool): Promise<boolean> {
  try {
    // The timeout is on the client, because a server that hangs does not enforce its own.
    const query = { text: "select 1", query_timeout: PROBE_TIMEOUT_MS };
    // The check is for all callers, so it must not wait in one caller's queue (shared-pool.ts).
    await requestContext.exit(() => connections.query(query));
    return true;
  } catch {
    return false;
  }
}
