import type { IncomingRequest } from "./incoming-request.ts";

/** What a handler gets beside the payload. */
export class DeliveryContext {
  /** `Webhook-Id`: the same in each attempt and replay. Made up where the sender gives none. */
  readonly id: string;
  /** The bytes as they came. */
  readonly rawBody: Uint8Array;
  /** Aborted when the handler has run for too long, or the receiver stops and does not wait any longer. */
  readonly signal: AbortSignal;
  /** When the attempt was sent. */
  readonly timestamp: Date | undefined;
  /** Of an event that nobody caused: "Send a test", here or in the service. */
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

  // Both are costly to make, and few handlers look.
  get headers(): Headers {
    this.#headers ??= this.#incoming.headers();
    return this.#headers;
  }

  get request(): Request {
    const { url, method } = this.#incoming;
    return new Request(url, { method, headers: this.headers, body: this.rawBody.slice() });
  }
}
