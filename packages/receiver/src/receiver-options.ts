import type { WebhookPayload } from "@keyhook/sdk";
import type { DeliveryStore } from "./delivery/delivery-store.ts";
import type { DeliveryContext } from "./delivery/registered-handler.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * The result becomes JSON: `null` without a result. A `Response` is sent unchanged, and `410` disables the webhook. After an
 * error, the response is 500, and the service retries.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing
export type HandlerResult = Json | Response | void;
export type WebhookHandler = (payload: WebhookPayload, delivery: DeliveryContext) => HandlerResult | Promise<HandlerResult>;

export type HandlerOptions = {
  /** `wait` (default): the response has the handler's outcome. `queue`: the response is 202, and the handler runs afterwards. */
  mode?: "wait" | "queue";
  /** How many deliveries the handler works on at once. Default: no limit with `wait`, 1 with `queue`. */
  concurrency?: number;
  /** After how many milliseconds the handler's `signal` is aborted. Default: 14,000 with `wait`, 600,000 with `queue`. */
  timeoutMs?: number;
  /** How many deliveries may wait. Default: 1,000. Further deliveries get 503 and `Retry-After`. */
  maxQueued?: number;
  /** `false` runs the handler for each request, even if its `Webhook-Id` arrived before. */
  deduplicate?: boolean;
};

/** Where an error happened. `store`: in the delivery store. `relay`: in the connection to a relay. */
export type ErrorSource = { handler?: string; deliveryId?: string; during: "handler" | "queue" | "store" | "relay" };

export type ReceiverOptions = {
  /** The webhook's secret, or several while one replaces another. Default: `WEBHOOK_SECRET`, with spaces between secrets. */
  secret?: string | readonly string[];
  /** Whether requests must be signed (Standard Webhooks). Default: only with a `whsec_` secret. Signatures are always checked. */
  requireSignature?: boolean;
  /** The maximum difference between the sender's clock and this machine's, in seconds. Default: 300. */
  toleranceSeconds?: number;
  /** The largest body, in bytes. Default: 1 MiB. */
  maxBodyBytes?: number;
  /** How long a body may take to arrive, in milliseconds. Default: 15,000. */
  bodyTimeoutMs?: number;
  /** Remembers accepted deliveries. Default: 10,000 in memory. */
  store?: DeliveryStore;
  /** Defaults of every handler. */
  handlers?: HandlerOptions;
  /** Called with each error. Default: prints the error. */
  onError?: (error: unknown, source: ErrorSource) => void;
  /** Replaces the landing page: HTML, or a function that returns the response. `false`: no page. */
  page?: string | false | ((request: Request) => Response | Promise<Response>);
  /** The path at which the receiver is mounted, before `/webhooks/…` and `/`, such as `/api`. */
  basePath?: string;
  /** Who may see deliveries and send tests. Default: a user of the URL that `launch` prints, at this machine, without a proxy. */
  mayManage?: (request: Request) => boolean | Promise<boolean>;
  /** The service's URL, for links. Default: `KEYHOOK_URL`. */
  serviceUrl?: string;
};
