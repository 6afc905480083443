import type { WebhookPayload } from "@keyhook/sdk";
import type { HandlerOptions, WebhookHandler } from "../receiver-options.ts";
import { type Answer, type IncomingRequest, json } from "./incoming-request.ts";

export type RegisteredHandler = {
  name: string;
  handle: WebhookHandler;
  mode: "wait" | "queue";
  timeoutMs: number;
  deduplicate: boolean;
  queue: WorkQueue;
};

const WAIT_MS = 14_000;
const WORK_MS = 10 * 60_000;

/** @throws Error if the name or an option cannot be used */
export function registerHandler(given: string, handle: WebhookHandler, options: HandlerOptions): RegisteredHandler {
  const name = given.replace(/^\/+|(?<!\/)\/+$/g, "");
  if (name === "") {
    throw new Error('A handler without a name has no URL. Name the function, or pass a name: webhook("on-push", handler).');
  }
  if (name.length > 200 || !name.split("/").every((part) => /^[\w$~.-]+$/.test(part) && !/^\.+$/.test(part))) {
    throw new Error(`A handler cannot be called "${name}": use letters, digits, "-", "_", "." and "/", such as "on-push".`);
  }
  const { mode = "wait", deduplicate = true, maxQueued = 1_000 } = options;
  const timeoutMs = options.timeoutMs ?? (mode === "queue" ? WORK_MS : WAIT_MS);
  const concurrency = options.concurrency ?? (mode === "queue" ? 1 : Number.POSITIVE_INFINITY);
  if (!(concurrency >= 1)) throw new Error(`Handler "${name}": concurrency must be at least 1.`);
  if (!(maxQueued >= 0)) throw new Error(`Handler "${name}": maxQueued must be at least 0.`);
  if (!(timeoutMs > 0)) throw new Error(`Handler "${name}": timeoutMs must be more than 0.`);
  return { name, handle, mode, timeoutMs, deduplicate, queue: new WorkQueue({ concurrency, maxQueued }) };
}

/** At the time limit the delivery has failed, whatever the handler does afterwards. */
export async function runHandler(
  handler: RegisteredHandler,
  payload: WebhookPayload,
  contextWith: (signal: AbortSignal) => DeliveryContext,
  ending: AbortSignal,
): Promise<Answer> {
  const aborting = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onEnding: (() => void) | undefined;
  const over = new Promise<never>((_, reject) => {
    const failWith = (message: string) => {
      const error = new Error(message);
      aborting.abort(error);
      reject(error);
    };
    timer = setTimeout(() => failWith(`Handler "${handler.name}" ran for more than ${handler.timeoutMs} ms.`), handler.timeoutMs);
    onEnding = () => failWith(`The receiver stopped before handler "${handler.name}" was done.`);
    ending.addEventListener("abort", onEnding, { once: true });
  });
  over.catch(() => undefined);
  try {
    // The handler is called inside the promise, because a handler that is not async may throw at once.
    const result = await Promise.race([(async () => handler.handle(payload, contextWith(aborting.signal)))(), over]);
    if (result instanceof Response) {
      return { status: result.status, body: await result.text(), headers: Object.fromEntries(result.headers) };
    }
    return json(200, result ?? null);
  } finally {
    clearTimeout(timer);
    if (onEnding) ending.removeEventListener("abort", onEnding);
  }
}

class WorkQueue {
  readonly #concurrency: number;
  readonly #maxQueued: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ concurrency, maxQueued }: { concurrency: number; maxQueued: number }) {
    this.#concurrency = concurrency;
    this.#maxQueued = maxQueued;
  }

  get isFull(): boolean {
    return this.#running >= this.#concurrency && this.#waiting.length >= this.#maxQueued;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      // The slot goes directly to the next delivery in the queue, so that no new delivery overtakes it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/** The context that a handler gets besides the payload. */
export class DeliveryContext {
  /** `Webhook-Id`: the same in each attempt and replay. Random if the sender gives none. */
  readonly id: string;
  /** The received bytes. */
  readonly rawBody: Uint8Array;
  /** Aborted when the handler has run for too long, or when the receiver stops. */
  readonly signal: AbortSignal;
  /** The time when the attempt was sent. */
  readonly timestamp: Date | undefined;
  /** Whether the delivery is a sample event from "Send a test", on the receiver's own page or in the service. */
  readonly isTest: boolean;
  readonly #incoming: IncomingRequest;
  #headers: Headers | undefined;

  constructor(incoming: IncomingRequest, given: { id: string; rawBody: Uint8Array; signal: AbortSignal }) {
    this.#incoming = incoming;
    this.id = given.id;
    this.rawBody = given.rawBody;
    this.signal = given.signal;
    const seconds = Number(incoming.header("webhook-timestamp") ?? Number.NaN);
    const at = new Date(seconds * 1000);
    this.timestamp = Number.isNaN(at.getTime()) ? undefined : at;
    this.isTest = incoming.header("x-webhook-test") === "true";
  }

  // Headers and request are created on use, because they are costly and few handlers use them.
  get headers(): Headers {
    this.#headers ??= this.#incoming.headers();
    return this.#headers;
  }

  get request(): Request {
    const { url, method } = this.#incoming;
    return new Request(url, { method, headers: this.headers, body: this.rawBody.slice() });
  }
}
