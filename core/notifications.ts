import pg from "pg";
import { databaseUrl } from "./env.ts";
import { log } from "./log.ts";

/**
 * Postgres NOTIFY, on one dedicated connection for the whole process. A notification only says that something changed; the change is read
 * from rows. While the connection is down, caches that notifications invalidate must not be trusted: check `isListening()`.
 */
type Handler = (payload: string) => void;
type Channel = { handlers: Set<Handler>; begun: Promise<unknown> | undefined };
type State = { client?: pg.Client; connecting?: Promise<void>; channels: Map<string, Channel>; closed: boolean };

const keeper = globalThis as typeof globalThis & { keyhookNotifications?: State };
keeper.keyhookNotifications ??= { channels: new Map(), closed: false };
const state = keeper.keyhookNotifications;
const RECONNECT_MS = 1_000;

export const isListening = (): boolean => state.client !== undefined;

async function connect(): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl(),
    application_name: "keyhook notifications",
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
  });
  const lost = () => {
    if (state.client !== client) return;
    state.client = undefined;
    scheduleReconnect();
  };
  client.on("error", lost);
  client.on("end", lost);
  client.on("notification", ({ channel, payload }) => {
    for (const handler of state.channels.get(channel)?.handlers ?? []) handler(payload ?? "");
  });
  await client.connect();
  for (const channel of state.channels.keys()) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  if (state.closed) return client.end();
  state.client = client;
  // Notifications were missed while the connection was down: tell every handler that anything may have changed.
  for (const { handlers } of state.channels.values()) for (const handler of handlers) handler("");
}

function scheduleReconnect(): void {
  if (state.closed) return;
  setTimeout(() => void ensureConnected(), RECONNECT_MS).unref();
}

function ensureConnected(): Promise<void> {
  if (state.client || state.closed) return Promise.resolve();
  state.connecting ??= connect()
    .catch((error) => {
      log().warn({ err: error }, "cannot listen for notifications; trying again");
      scheduleReconnect();
    })
    .finally(() => {
      state.connecting = undefined;
    });
  return state.connecting;
}

/**
 * Calls `handler` for every notification on the channel `name`, with an empty payload after a reconnection. Calling it again changes
 * nothing.
 */
export async function listen(name: string, handler: Handler): Promise<void> {
  state.closed = false;
  const known = state.channels.get(name);
  // A LISTEN that fails has lost its connection, and the next connection listens to all channels.
  const begun = known?.begun ?? state.client?.query(`LISTEN ${state.client.escapeIdentifier(name)}`).catch(() => undefined);
  const channel = known ?? { handlers: new Set(), begun };
  state.channels.set(name, channel);
  channel.handlers.add(handler);
  await begun;
  await ensureConnected();
}

export async function stopListening(): Promise<void> {
  state.closed = true;
  const { client } = state;
  state.client = undefined;
  state.channels.clear();
  await client?.end().catch(() => undefined);
}
