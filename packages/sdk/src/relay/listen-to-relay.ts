import { part } from "../client/addresses.ts";
import { ApiError } from "../client/api-error.ts";
import type { Client } from "../client/create-client.ts";
import { delayBeforeRetry, isWorthRetrying, sleep } from "../client/reconnecting.ts";
import { answerBody, type RelayAnswer, type RelayedRequest, readRelayedRequest } from "./relayed-request.ts";
import type { OpenedRelay } from "./schemas.ts";

/** A change of a listener's state: it is `open`, the relay's URL has `moved`, the connection is `lost` or has `resumed`. @group Relay */
export type RelayState =
  /** The listener listens for the first time. `waiting` requests were kept before. */
  | { kind: "open"; url: string; expiresAt: string; waiting: number }
  /** The relay had expired and has another URL. `staleWebhooks` still send to the previous URL. */
  | { kind: "moved"; url: string; previousUrl: string; staleWebhooks: { id: string; url: string }[] }
  /** The connection is lost. The listener reconnects, except after the reasons `replaced` and `closed`. */
  | { kind: "lost"; reason: string }
  /** The listener listens again. */
  | { kind: "resumed"; waiting: number };

/** Options of {@link listenToRelay}. @group Relay */
export type ListenOptions = {
  /** The relay's name. A relay keeps its URL as long as somebody listens under its name at least every 72 hours. */
  name: string;
  /** Responds to a request. If it throws, the response is 500, so that the service attempts a delivery again. */
  handle: (request: RelayedRequest) => Promise<RelayAnswer> | RelayAnswer;
  signal?: AbortSignal | undefined;
  /** How many requests are handled at once, at most 64. Default 8; 1 keeps their order. */
  concurrency?: number | undefined;
  /** Called with each change of state. */
  onState?: ((state: RelayState) => void) | undefined;
  /** Called when `handle` throws, or when a response cannot be sent. */
  onError?: ((error: unknown, request: RelayedRequest) => void) | undefined;
};

/** After this time without data the connection counts as lost. The service sends a ping every five seconds. */
const IDLE_MS = 20_000;
const RENEW_AGAIN_MS = 60_000;
const RENEW_LATEST_MS = 24 * 3_600_000;
/** How long the listener waits at the end for requests that are being handled. */
const GRACE_MS = 10_000;
const ANSWERED_MAX = 2_000;

/**
 * Listens to a relay and passes each request to `handle`. A relay gives a receiver on a private network a public URL. The
 * function reconnects and renews the relay until `signal` aborts. A request is never handled twice at the same time, and never
 * again once the service has its response. At the end, running handlers get ten seconds. Requests without a response by then
 * go to the next listener.
 * @param client A client whose token has the scope `webhooks`.
 * @param options The relay's name, and `handle`, such as {@link forwardTo}. `onState` gets the public URL, which you set as the URL of a
 * webhook.
 * @returns The reason why it ended: `aborted` by `signal`, `replaced` by another listener, or `closed` because somebody closed the relay.
 * @throws {@link ApiError} if another attempt would fail in the same way: a wrong token, a missing scope, an invalid name.
 * @example
 * ```ts
 * await listenToRelay(client, {
 *   name: "laptop",
 *   handle: forwardTo("http://localhost:3000"),
 *   onState: (state) => state.kind === "open" && console.log(`Send webhooks to ${state.url}`),
 * });
 * ```
 * @group Relay
 */
export async function listenToRelay(
  client: Pick<Client, "request" | "stream" | "relays">,
  options: ListenOptions,
): Promise<"aborted" | "replaced" | "closed"> {
  const { name, signal, concurrency = 8, onState = () => undefined } = options;
  const path = `/api/settings/relays/${part(name)}`;
  const listener = randomId();
  const work = new Work(client, path, options);
  const ending = new AbortController();
  const onAbort = () => ending.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  let url: string | undefined;
  let hasListened = false;

  async function open(): Promise<OpenedRelay> {
    const opened = await client.relays.open(name, { signal: ending.signal });
    const before = url ?? opened.previousUrl;
    url = opened.relay.url;
    if (before !== undefined && before !== url) {
      onState({ kind: "moved", url, previousUrl: before, staleWebhooks: opened.staleWebhooks ?? [] });
    }
    return opened;
  }

  /** Returns true if another listener has taken over. */
  async function connect(): Promise<boolean> {
    const { relay } = await open();
    const renewing = keepRenewed(relay.expiresAt, open, ending.signal);
    let isFirst = true;
    const reportState = () => {
      if (!isFirst) return;
      isFirst = false;
      failed = 0;
      if (hasListened) onState({ kind: "resumed", waiting: relay.waiting });
      else onState({ kind: "open", url: relay.url, expiresAt: relay.expiresAt, waiting: relay.waiting });
      hasListened = true;
    };
    try {
      const query = { listener, concurrency };
      const events = client.stream(`${path}/requests`, { query, signal: ending.signal, idleMs: IDLE_MS });
      for await (const { event, data } of events) {
        reportState();
        if (event === "replaced") return true;
        if (event === "request") work.take(data);
      }
      return false;
    } finally {
      renewing.stop();
    }
  }

  let failed = 0;
  try {
    for (;;) {
      let reason = "the connection ended";
      let retryAfterSeconds: number | undefined;
      try {
        if (await connect()) {
          onState({ kind: "lost", reason: "replaced" });
          return "replaced";
        }
      } catch (error) {
        if (ending.signal.aborted) return "aborted";
        const isGone = error instanceof ApiError && error.status === 404;
        if (!isGone && !isLost(error)) throw error;
        reason = error instanceof Error ? error.message : String(error);
        retryAfterSeconds = isLost(error) ? error.retryAfterSeconds : undefined;
      }
      if (ending.signal.aborted) return "aborted";
      failed += 1;
      if (await isClosed()) {
        onState({ kind: "lost", reason: "closed" });
        return "closed";
      }
      onState({ kind: "lost", reason });
      try {
        await sleep(delayBeforeRetry(failed, retryAfterSeconds), ending.signal);
      } catch {
        return "aborted";
      }
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    ending.abort();
    await work.settled(GRACE_MS);
  }

  /** An expired relay still exists. A closed one must not be opened again. */
  async function isClosed(): Promise<boolean> {
    if (!hasListened) return false;
    return client.relays.get(name, { signal: ending.signal }).then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.status === 404,
    );
  }
}

class Work {
  readonly #running = new Map<string, Promise<void>>();
  /** Responses that could not be sent. They are sent when the request arrives again, so that the request is not handled twice. */
  readonly #unsent = new Map<string, RelayAnswer>();
  readonly #answered = new Set<string>();
  readonly #client: Pick<Client, "request">;
  readonly #path: string;
  readonly #options: ListenOptions;

  constructor(client: Pick<Client, "request">, path: string, options: ListenOptions) {
    this.#client = client;
    this.#path = path;
    this.#options = options;
  }

  take(data: string): void {
    const request = readRelayedRequest(data);
    const { id } = request;
    if (this.#running.has(id) || this.#answered.has(id)) return;
    const run = this.#run(request).finally(() => this.#running.delete(id));
    this.#running.set(id, run);
  }

  async settled(graceMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(this.#running.values()), over]);
    clearTimeout(timer);
  }

  async #run(request: RelayedRequest): Promise<void> {
    const { onError = () => undefined } = this.#options;
    const answer = this.#unsent.get(request.id) ?? (await this.#handled(request));
    this.#unsent.delete(request.id);
    try {
      await this.#send(request, answer);
      this.#remember(request.id);
    } catch (error) {
      this.#unsent.set(request.id, answer);
      onError(error, request);
    }
  }

  async #handled(request: RelayedRequest): Promise<RelayAnswer> {
    try {
      return await this.#options.handle(request);
    } catch (error) {
      this.#options.onError?.(error, request);
      return { status: 500, headers: [["content-type", "text/plain; charset=utf-8"]], body: "The handler failed." };
    }
  }

  async #send(request: RelayedRequest, answer: RelayAnswer): Promise<void> {
    const path = `${this.#path}/requests/${part(request.id)}/answer`;
    const post = (body: ReturnType<typeof answerBody>) => this.#client.request("POST", path, { body, isIdempotent: true });
    try {
      await post(answerBody(answer));
    } catch (error) {
      // The service already has a response to this request, or has given it up.
      if (error instanceof ApiError && error.status === 404) return;
      if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 413)) throw error;
      this.#options.onError?.(error, request);
      const body = `The handler's response cannot be sent: ${error.message}`;
      await post(answerBody({ status: 502, headers: [["content-type", "text/plain; charset=utf-8"]], body }));
    }
  }

  #remember(id: string): void {
    this.#answered.add(id);
    for (const first of this.#answered) {
      if (this.#answered.size <= ANSWERED_MAX) return;
      this.#answered.delete(first);
    }
  }
}

/** Renews when half of the remaining time is over, or after a day if that is earlier. */
function keepRenewed(expiresAt: string, open: () => Promise<OpenedRelay>, signal: AbortSignal): { stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const after = (until: string) => Math.max(1_000, Math.min((Date.parse(until) - Date.now()) / 2 || 0, RENEW_LATEST_MS));
  const plan = (ms: number) => {
    if (isStopped) return;
    timer = setTimeout(() => {
      if (signal.aborted) return;
      open().then(
        ({ relay }) => plan(after(relay.expiresAt)),
        () => plan(RENEW_AGAIN_MS),
      );
    }, ms);
    // In Node, this timer alone must not keep the process alive.
    (timer as { unref?: () => void }).unref?.();
  };
  plan(after(expiresAt));
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

const isLost = (error: unknown): error is ApiError =>
  isWorthRetrying(error) || (error instanceof ApiError && (error.status >= 500 || error.status === 429));

function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
