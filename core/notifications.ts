import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { pool } from "./db.ts";
import { directDatabaseUrl } from "./env.ts";
import { log, requestContext } from "./log.ts";
import { socketEndingWhenSilent } from "./open-pool.ts";

/** A notification only says that something changed. Do not trust caches that depend on it while `isListening()` is false. */
type Handler = (payload: string) => void;
type Channel = { handlers: Set<Handler>; begun: Promise<unknown> | undefined };
type State = { client?: pg.Client; connecting?: Promise<void>; channels: Map<string, Channel>; closed: boolean };

const keeper = globalThis as typeof globalThis & { keyhookNotifications?: State };
keeper.keyhookNotifications ??= { channels: new Map(), closed: false };
const state = keeper.keyhookNotifications;
const RECONNECT_MS = 1_000;
const PING_MS = 5_000;
/** A server that is silent for this long sends no notifications either. */
const SILENT_MS = 10_000;

export const isListening = (): boolean => state.client !== undefined;

async function connect(): Promise<void> {
  const client = new pg.Client({
    connectionString: directDatabaseUrl(),
    application_name: "keyhook notifications",
    connectionTimeoutMillis: 3_000,
    stream: () => socketEndingWhenSilent(SILENT_MS),
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
  void sendPings(client).catch(() => undefined);
  // Notifications were missed while the connection was down.
  for (const { handlers } of state.channels.values()) for (const handler of handlers) handler("");
}

async function sendPings(client: pg.Client): Promise<void> {
  while (state.client === client) {
    await delay(PING_MS, undefined, { ref: false });
    await client.query("select 1");
  }
}

function scheduleReconnect(): void {
  if (state.closed) return;
  setTimeout(() => void ensureConnected(), RECONNECT_MS).unref();
}

function ensureConnected(): Promise<void> {
  if (state.client || state.closed) return Promise.resolve();
  // Handlers run in the context in which the connection was opened, and work for all callers (S137).
  state.connecting ??= requestContext
    .exit(connect)
    .catch((error) => {
      log().warn({ err: error }, "cannot listen for notifications; trying again");
      scheduleReconnect();
    })
    .finally(() => {
      state.connecting = undefined;
    });
  return state.connecting;
}

/** After a reconnection, the handler gets an empty payload. */
export async function listen(name: string, handler: Handler): Promise<void> {
  state.closed = false;
  const known = state.channels.get(name);
  // LISTEN fails only if the connection is lost, and the next connection listens to all channels.
  const begun = known?.begun ?? state.client?.query(`LISTEN ${state.client.escapeIdentifier(name)}`).catch(() => undefined);
  const channel = known ?? { handlers: new Set(), begun };
  state.channels.set(name, channel);
  channel.handlers.add(handler);
  await begun;
  await ensureConnected();
}

type Outbox = {
  messages: Map<string, [channel: string, payload: string]>;
  timer?: NodeJS.Timeout | undefined;
  dueAt: number;
  isSending: boolean;
};
const outboxKeeper = globalThis as typeof globalThis & { keyhookOutbox?: Outbox };
outboxKeeper.keyhookOutbox ??= { messages: new Map(), dueAt: Number.POSITIVE_INFINITY, isSending: false };
const outbox = outboxKeeper.keyhookOutbox;

/**
 * Call this after the commit (`afterCommit`), because NOTIFY in a transaction makes all commits wait for each other. A
 * notification can be lost, so receivers must also poll.
 */
export function notify(channel: string, payload = "", withinMs = 0): void {
  outbox.messages.set(`${channel} ${payload}`, [channel, payload]);
  const at = performance.now() + withinMs;
  if (outbox.isSending || at >= outbox.dueAt) return;
  outbox.dueAt = at;
  clearTimeout(outbox.timer);
  outbox.timer = withinMs === 0 ? undefined : setTimeout(() => void send(), withinMs).unref();
  if (withinMs === 0) void send();
}

async function send(): Promise<void> {
  outbox.isSending = true;
  outbox.dueAt = Number.POSITIVE_INFINITY;
  clearTimeout(outbox.timer);
  do {
    const messages = [...outbox.messages.values()];
    outbox.messages.clear();
    try {
      const statement = {
        name: "notify",
        // The commit of a notification does not need to wait for the disk.
        text: `select set_config('synchronous_commit', 'off', true), count(pg_notify(channel, payload))
          from unnest($1::text[], $2::text[]) as n(channel, payload)`,
        values: [messages.map(([channel]) => channel), messages.map(([, payload]) => payload)],
      };
      // The messages are of several callers.
      await requestContext.exit(() => pool().query(statement));
    } catch (error) {
      log().debug({ err: error }, "notifications were not sent");
    }
  } while (outbox.messages.size > 0);
  outbox.isSending = false;
}

export async function stopListening(): Promise<void> {
  state.closed = true;
  const { client } = state;
  state.client = undefined;
  state.channels.clear();
  clearTimeout(outbox.timer);
  outbox.dueAt = Number.POSITIVE_INFINITY;
  outbox.messages.clear();
  await client?.end().catch(() => undefined);
}
