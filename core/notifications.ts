import pg from "pg";
import { databaseUrl } from "./env.ts";
import { log } from "./log.ts";

/**
 * Postgres NOTIFY, on one connection of its own for the whole process. It only tells that something changed; what changed is
 * read from rows. While the connection is away nothing may be trusted that a notification would have invalidated:
 * `isListening()` tells.
 */
type Handler = (payload: string) => void;
type Channel = { handlers: Set<Handler>; begun: Promise<unknown> | undefined };
type State = { client?: pg.Client; connecting?: Promise<void>; channels: Map<string, Channel>; closed: boolean };

const keeper = globalThis as typeof globalThis & { keyhookNotifications?: State };
const RECONNECT_MS = 1_000;

function state(): State {
  keeper.keyhookNotifications ??= { channels: new Map(), closed: false };
  return keeper.keyhookNotifications;
}

export const isListening = (): boolean => state().client !== undefined;

async function connect(): Promise<void> {
  const now = state();
  const client = new pg.Client({
    connectionString: databaseUrl(),
    application_name: "keyhook notifications",
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
  });
  const lost = () => {
    if (now.client !== client) return;
    now.client = undefined;
    scheduleReconnect();
  };
  client.on("error", lost);
  client.on("end", lost);
  client.on("notification", ({ channel, payload }) => {
    for (const handler of now.channels.get(channel)?.handlers ?? []) handler(payload ?? "");
  });
  await client.connect();
  for (const channel of now.channels.keys()) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  now.client = client;
  // Whatever happened while we were away was missed: tell every handler that anything may have changed.
  for (const { handlers } of now.channels.values()) for (const handler of handlers) handler("");
}

function scheduleReconnect(): void {
  const now = state();
  if (now.closed) return;
  setTimeout(() => void ensureConnected(), RECONNECT_MS).unref();
}

function ensureConnected(): Promise<void> {
  const now = state();
  if (now.client || now.closed) return Promise.resolve();
  now.connecting ??= connect()
    .catch((error) => {
      log().warn({ err: error }, "cannot listen for notifications; trying again");
      scheduleReconnect();
    })
    .finally(() => {
      now.connecting = undefined;
    });
  return now.connecting;
}

/** Calls `handler` for every notification on the channel `name`, with an empty payload after a reconnection. Asking again changes nothing. */
export async function listen(name: string, handler: Handler): Promise<void> {
  const now = state();
  now.closed = false;
  const known = now.channels.get(name);
  // One that fails has lost its connection, and the next connection listens to all channels.
  const begun = known?.begun ?? now.client?.query(`LISTEN ${now.client.escapeIdentifier(name)}`).catch(() => undefined);
  const channel = known ?? { handlers: new Set(), begun };
  now.channels.set(name, channel);
  channel.handlers.add(handler);
  await begun;
  await ensureConnected();
}

export async function stopListening(): Promise<void> {
  const now = state();
  now.closed = true;
  const { client } = now;
  now.client = undefined;
  keeper.keyhookNotifications = undefined;
  await client?.end().catch(() => undefined);
}
