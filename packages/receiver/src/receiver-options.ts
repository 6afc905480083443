import type { WebhookPayload } from "@keyhook/sdk";
import type { DeliveryContext } from "./delivery/delivery-context.ts";
import type { DeliveryStore } from "./delivery/delivery-store.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** What it returns is the answer's JSON, nothing is `null`, and a `Response` is sent as it is (`410` disables the webhook). What it throws is answered with 500, and the service comes again later. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers that return nothing are most of them
export type HandlerResult = Json | Response | void;
export type WebhookHandler = (payload: WebhookPayload, delivery: DeliveryContext) => HandlerResult | Promise<HandlerResult>;

export type HandlerOptions = {
  /** `wait` (default): the answer says how the handler ended. `queue`: 202 at once, and the work comes after. */
  mode?: "wait" | "queue";
  /** How many deliveries the handler works on at once: as many as come with `wait`, 1 with `queue`. */
  concurrency?: number;
  /** After which the handler's `signal` is aborted: 14 s with `wait`, since the service waits for 15; 10 minutes with `queue`. */
  timeoutMs?: number;
  /** How many may wait for their turn (1,000); more are answered with 503 and `Retry-After`. */
  maxQueued?: number;
  /** `false`: runs for each request, whether or not its `Webhook-Id` has been here. For handlers that may run twice. */
  deduplicate?: boolean;
};

/** Where an error came up. `store`: the delivery store. `relay`: the connection for a local receiver. */
export type ErrorSource = { handler?: string; deliveryId?: string; during: "handler" | "queue" | "store" | "relay" };

export type ReceiverOptions = {
  /** The webhook's secret; several while one replaces another. By default `WEBHOOK_SECRET`, where spaces
   * part several that begin with `whsec_`. */
  secret?: string | readonly string[];
  /**
   * Whether requests must be signed (Standard Webhooks). By default a secret that begins with `whsec_` is taken only by its signature, and
   * any other also as it is, in `X-Webhook-Secret`. A signature that comes must always be right.
   */
  requireSignature?: boolean;
  /** How far the sender's clock may be off (300). */
  toleranceSeconds?: number;
  /** 1 MiB. */
  maxBodyBytes?: number;
  /** How long a body may take to arrive (15 s). */
  bodyTimeoutMs?: number;
  /** Remembers which deliveries were taken: 10,000 in memory by default. */
  store?: DeliveryStore;
  /** Defaults of every handler. */
  handlers?: HandlerOptions;
  /** By default it is printed. */
  onError?: (error: unknown, source: ErrorSource) => void;
  /** In place of the landing page: HTML, or what makes an answer. `false`: none. */
  page?: string | false | ((request: Request) => Response | Promise<Response>);
  /** What stands before `/webhooks/…` and `/` where the receiver is mounted, such as `/api`. */
  basePath?: string;
  /**
   * Who may see the last deliveries and send tests from the landing page. By default whoever opens it on this machine, at a loopback
   * address and through no proxy.
   */
  mayManage?: (request: Request) => boolean | Promise<boolean>;
  /** The service, for links: by default `KEYHOOK_URL`. */
  serviceUrl?: string;
};
