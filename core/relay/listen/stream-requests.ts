import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { readableOwners } from "../../access/readable-owners.ts";
import { isServiceError, notFound } from "../../errors.ts";
import { streamSlots } from "../../http/stream-slots.ts";
import { log } from "../../log.ts";
import { listen } from "../../notifications.ts";
import { failRequest } from "../inbox/answer-request.ts";
import type { HeaderList } from "../inbox/take-request.ts";
import { LISTENER_MARK, RELAY_CHANNEL } from "../relay.ts";
import { connect, disconnect, type ListenerState, renew } from "./connection.ts";
import { type HandedRequest, handOver, type ListenerReach, stillOpen } from "./hand-over.ts";

const takeSlot = streamSlots({
  perPerson: 25,
  inAll: 2_000,
  sentence: "Too many listeners are connected. Stop one of them, or try again later.",
  retryAfterSeconds: 15,
});

const PING_MS = 5_000;
const UNREAD_PINGS_MAX = 12;
export const CONCURRENCY_MAX = 64;

type RequestStream = {
  /** @throws ServiceError if the token has ended */
  actorNow: () => Promise<Actor>;
  userId: string;
  name: string;
  /** The listener chooses this ID, and keeps it across connections. */
  listenerId: string;
  concurrency: number;
  signal: AbortSignal;
  /** @returns the current headers, or undefined if the delivery may no longer be handed over */
  refresh: (request: HandedRequest & { deliveryId: string }) => Promise<HeaderList | undefined>;
  pingMs?: number;
};

/** The stream ends when the user may no longer listen. The client then reconnects and learns why. */
export async function streamRequests(options: RequestStream): Promise<ReadableStream<Uint8Array>> {
  const { actorNow, userId, name, listenerId, signal, pingMs = PING_MS } = options;
  let reach: ListenerReach;
  const mayListen = async (): Promise<Actor> => {
    const actor = await actorNow();
    await requirePermission(actor, "relay.manage", { userId }, { what: "Relay" });
    reach = {
      owners: ownersReachedBy(actor, userId),
      readable: actor.kind === "token" ? await readableOwners(actor, "repo.read") : null,
    };
    return actor;
  };
  const listener = await mayListen();
  const release = takeSlot(userId);
  const connection = await connect(listener, { userId, name, listenerId }).catch((error: unknown) => {
    release();
    throw error;
  });
  if (!connection) {
    release();
    throw notFound("Relay");
  }
  const mine = connection;
  let isClosed = false;
  let hasNews = true;
  let isChanged = false;
  let wake: () => void = () => undefined;
  const leave = await join(mine.relayId, (notice) => {
    if (notice === "listener") isChanged = true;
    else hasNews = true;
    wake();
  }).catch((error: unknown) => {
    // The connection's lease expires by itself.
    release();
    throw error;
  });

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    clearInterval(pinging);
    leave();
    release();
    wake();
    await disconnect(mine).catch((error: unknown) =>
      log().debug({ err: error }, "a listener's disconnection could not be recorded; its lease will expire"),
    );
  }

  const encoder = new TextEncoder();
  const given = new Set<string>();
  const ready: string[] = ["retry: 1000\nevent: listening\ndata: {}\n\n"];
  let renewedAt = Date.now();
  let readAt = Date.now();
  let isOver = false;
  const pinging = setInterval(() => {
    // `pull` is not called for a client that has stopped reading, so this timer wakes or ends the stream.
    if (Date.now() - readAt > UNREAD_PINGS_MAX * pingMs) void close();
    else wake();
  }, pingMs / 2).unref();
  signal.addEventListener("abort", () => void close(), { once: true });
  if (signal.aborted) await close();

  async function next(): Promise<string | null> {
    while (!isClosed && !isOver) {
      if (isChanged || Date.now() - renewedAt >= pingMs) {
        isChanged = false;
        const state = await checkState();
        isOver = state !== "listening";
        if (state === "replaced") return "event: replaced\ndata: {}\n\n";
        if (isOver) return null;
        renewedAt = Date.now();
        hasNews = true;
        if (ready.length === 0) return ":\n\n";
      }
      const message = ready.shift();
      if (message !== undefined) return message;
      if (hasNews) {
        hasNews = false;
        await takeRequests();
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (hasNews || isChanged || isClosed) resolve();
      });
    }
    return null;
  }

  async function checkState(): Promise<ListenerState> {
    try {
      await mayListen();
    } catch (error) {
      if (!isServiceError(error)) log().warn({ err: error }, "a listener was disconnected: its access cannot be checked");
      return "over";
    }
    return renew(mine);
  }

  async function takeRequests(): Promise<void> {
    if (given.size > 0) {
      const still = await stillOpen([...given]);
      for (const id of given) if (!still.has(id)) given.delete(id);
    }
    const room = Math.min(options.concurrency, CONCURRENCY_MAX) - given.size;
    if (room <= 0) return;
    const handed = await handOver(mine, { room, known: [...given], reach });
    for (const request of handed) {
      given.add(request.id);
      const headers = await headersNow(request);
      if (headers) ready.push(toMessage({ ...request, headers }));
      else await failRequest(request.id, "the request can no longer be passed on");
    }
    if (handed.length > 0) hasNews = true;
  }

  async function headersNow(request: HandedRequest): Promise<HeaderList | undefined> {
    const { deliveryId } = request;
    if (deliveryId === null || !request.isFromInbox) return request.headers;
    return options.refresh({ ...request, deliveryId });
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        readAt = Date.now();
        const message = await next().catch((error: unknown) => {
          log().warn({ err: error }, "a listener was disconnected: its relay cannot be read");
          return null;
        });
        if (message === null) {
          await close();
          return controller.close();
        }
        controller.enqueue(encoder.encode(message));
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}

/**
 * A token without access to an organization must not receive the organization's deliveries.
 * @returns null for all owners
 */
function ownersReachedBy(actor: Actor, userId: string): readonly string[] | null {
  return actor.kind === "token" && actor.orgIds !== "all" ? [userId, ...actor.orgIds] : null;
}

function toMessage({ id, method, path, headers, body, receivedAt, isFromInbox }: HandedRequest): string {
  const data = {
    id,
    method,
    path,
    headers,
    bodyBase64: body.toString("base64"),
    receivedAt: receivedAt.toISOString(),
    isFromInbox,
  };
  return `event: request\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

type Notice = "request" | "listener";
const listeners = new Map<string, Set<(notice: Notice) => void>>();

/** See `RELAY_CHANNEL`. The payload is empty after a reconnection. */
function announce(payload: string): void {
  const isOfListener = payload === "" || payload.endsWith(LISTENER_MARK);
  const relayId = payload.replace(LISTENER_MARK, "");
  for (const [each, callbacks] of listeners) {
    if (relayId === "" || relayId === each) for (const notify of callbacks) notify(isOfListener ? "listener" : "request");
  }
}

async function join(relayId: string, notify: (notice: Notice) => void): Promise<() => void> {
  const callbacks = listeners.get(relayId) ?? new Set();
  listeners.set(relayId, callbacks);
  callbacks.add(notify);
  await listen(RELAY_CHANNEL, announce);
  return () => {
    callbacks.delete(notify);
    if (callbacks.size === 0 && listeners.get(relayId) === callbacks) listeners.delete(relayId);
  };
}
