import type { IncomingMessage, ServerResponse } from "node:http";
import { memoryStore, RecentDeliveries } from "./delivery/delivery-store.ts";
import { type Answer, type IncomingRequest, json, RefusedError } from "./delivery/incoming-request.ts";
import { type Reception, receiveDelivery } from "./delivery/receive-delivery.ts";
import { type RegisteredHandler, registerHandler } from "./delivery/registered-handler.ts";
import { environment } from "./environment.ts";
import { answerLanding } from "./landing/answer-landing.ts";
import type { ErrorSource, HandlerOptions, ReceiverOptions, WebhookHandler } from "./receiver-options.ts";
import type { Launched, LaunchOptions } from "./serve/launch.ts";
import { answerNode, type FrameworkRequest, type FrameworkResponse, fromRequest, toResponse } from "./serve/node-handler.ts";

const MIB = 1024 * 1024;

/**
 * Receives webhooks: several handlers on one server, each at `POST /webhooks/<name>`. Register handlers with `on`. Then call
 * `launch`, or mount `handler` or `fetch` into your own server.
 */
export class Receiver {
  readonly options: ReceiverOptions;
  readonly secrets: readonly string[];
  readonly handlers = new Map<string, RegisteredHandler>();
  readonly recent = new RecentDeliveries();
  readonly reception: Reception;
  /**
   * Shows that the user knows the URL that `launch` prints. Otherwise another site could post a form. A stranger's request
   * through a proxy could look like a local user's: by default, nginx 1.30 sends such requests.
   */
  readonly pageToken: string = crypto.randomUUID();
  readonly #ending = new AbortController();
  #isClosing = false;
  #launched: Promise<Launched> | undefined;

  constructor(options: ReceiverOptions = {}) {
    this.options = options;
    this.secrets = options.secret === undefined ? environment.secrets() : ([options.secret].flat() as string[]);
    if (this.secrets.some((secret) => typeof secret !== "string" || secret === "")) {
      throw new Error(
        "A secret is empty. Leave out `secret` to read WEBHOOK_SECRET, or pass the webhook's secret; [] accepts requests from everybody.",
      );
    }
    if (options.requireSignature && this.secrets.length === 0) {
      throw new Error("requireSignature needs the webhook's secret: set WEBHOOK_SECRET, or pass `secret`.");
    }
    const { requireSignature, toleranceSeconds = 300, maxBodyBytes = MIB, bodyTimeoutMs = 15_000 } = options;
    this.reception = {
      sender: { secrets: this.secrets, requireSignature, toleranceSeconds },
      limits: { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs },
      store: options.store ?? memoryStore(),
      inProgress: new Map(),
      running: new Set(),
      ending: this.#ending.signal,
      onError: (error, source) => this.reportError(error, source),
    };
  }

  /**
   * Registers a handler at `/webhooks/<name>`. The name is the given one, without slashes around it, or the function's.
   * @throws Error if there is no name, or another handler has it
   */
  on(handler: WebhookHandler, options?: HandlerOptions): this;
  on(name: string, handler: WebhookHandler, options?: HandlerOptions): this;
  on(first: string | WebhookHandler, second?: WebhookHandler | HandlerOptions, third?: HandlerOptions): this {
    const [name, handle, options] =
      typeof first === "string" ? [first, second as WebhookHandler, third] : [first.name, first, second as HandlerOptions];
    if (typeof handle !== "function") throw new TypeError(`Handler "${name}" is not a function.`);
    const handler = registerHandler(name, handle, { ...this.options.handlers, ...options });
    if (this.handlers.has(handler.name)) {
      throw new Error(`There is already a handler at /webhooks/${handler.name}. Give one of the two another name.`);
    }
    this.handlers.set(handler.name, handler);
    return this;
  }

  /** Starts a server that has only this receiver. */
  launch(options: LaunchOptions = {}): Promise<Launched> {
    if (this.#launched) throw new Error("This receiver has already been launched.");
    if (this.#isClosing) throw new Error("This receiver was closed. Create another one.");
    // The import is only here, because only Node can start a server, and everything else must work in other runtimes.
    const launching = import("./serve/launch.ts").then(({ launch }) => launch(this, options));
    this.#launched = launching;
    launching.catch(() => {
      this.#launched = undefined;
    });
    return launching;
  }

  /**
   * For servers that use `Request` and `Response`: Hono, Next, Deno, Workers. You can write `export const POST = receiver.fetch`.
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    const incoming = fromRequest(request);
    return toResponse(await this.answer(incoming), incoming);
  };

  /** Answers requests of Node's server, Express, Connect and Fastify. */
  readonly handler = (request: FrameworkRequest | IncomingMessage, response: FrameworkResponse | ServerResponse): Promise<void> =>
    answerNode(this, request, response);

  /** Forgets a delivery that `deduplicate` remembers. If the delivery arrives again, the handler runs again. */
  async forget(deliveryId: string): Promise<void> {
    for (const { name } of this.handlers.values()) await this.reception.store.delete(`${name}\n${deliveryId}`);
  }

  /**
   * Refuses deliveries (503), waits for running handlers, and stops the server. After `timeoutMs` (10 s), handlers are aborted.
   */
  async close({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => this.#ending.abort(), timeoutMs);
    while (this.reception.running.size > 0) await Promise.all(this.reception.running);
    clearTimeout(timer);
    await (await this.#launched?.catch(() => undefined))?.stop();
  }

  /** Answers a request from any kind of server. */
  async answer(incoming: IncomingRequest): Promise<Answer> {
    try {
      return await this.#route(incoming);
    } catch (error) {
      if (error instanceof RefusedError) return error.answer;
      this.reportError(error, { during: "handler" });
      return { status: 500, body: "Internal Server Error\n", headers: { "content-type": "text/plain" } };
    }
  }

  async #route(incoming: IncomingRequest): Promise<Answer> {
    const base = (this.options.basePath ?? "").replace(/(?<!\/)\/+$/, "");
    if (base && incoming.path !== base && !incoming.path.startsWith(`${base}/`)) return notFound;
    const path = incoming.path.slice(base.length) || "/";
    if (path.startsWith("/webhooks/")) {
      const handler = this.handlers.get(decode(path.slice("/webhooks/".length).replace(/(?<!\/)\/+$/, "")));
      if (!handler) return notFound;
      if (incoming.method !== "POST") return json(405, { error: "Send deliveries with POST." }, { allow: "POST" });
      return this.receive(incoming, handler);
    }
    if (path === "/health") {
      return this.#isClosing ? json(503, { status: "stopping" }) : json(200, { status: "ok" });
    }
    return answerLanding(this, incoming, path);
  }

  async receive(incoming: IncomingRequest, handler: RegisteredHandler): Promise<Answer> {
    if (this.#isClosing)
      return json(503, { error: "The receiver is stopping. Try again later." }, { "retry-after": "10", connection: "close" });
    const startedAt = performance.now();
    const at = new Date();
    const { answer, id, payload, isRepeated } = await receiveDelivery(incoming, handler, this.reception);
    this.recent.add({
      ...{ at, handler: handler.name, id, isRepeated, status: answer.status, durationMs: performance.now() - startedAt },
      event: payload && `${payload.event.scope} · ${payload.event.action}`,
      repo: payload && `${payload.repo.type} ${payload.repo.name}`,
      isTest: payload !== undefined && incoming.header("x-webhook-test") === "true",
    });
    return answer;
  }

  reportError(error: unknown, source: ErrorSource): void {
    if (this.options.onError) {
      try {
        this.options.onError(error, source);
        return;
      } catch (thrown) {
        console.error("onError threw:", thrown);
      }
    }
    const of = [source.handler && `handler ${source.handler}`, source.deliveryId && `delivery ${source.deliveryId}`].filter(
      Boolean,
    );
    console.error(`[receiver] ${[...of, source.during].join(", ")}:`, error);
  }
}

export const createReceiver = (options?: ReceiverOptions): Receiver => new Receiver(options);

const notFound = json(404, { error: "Not found." });

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
