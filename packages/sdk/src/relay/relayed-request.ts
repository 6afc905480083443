import { ApiError } from "../client/api-error.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { relayedRequestSchema } from "./schemas.ts";

export type HeaderPairs = [name: string, value: string][];

/** A request that was sent to a relay's address. */
export type RelayedRequest = {
  id: string;
  method: string;
  /** What followed the relay's address, with the query: `/webhooks/onPush?x=1`. */
  path: string;
  /** In the order in which they were sent, a name as often as it came. */
  headers: HeaderPairs;
  /** Byte for byte. */
  body: Uint8Array<ArrayBuffer>;
  receivedAt: Date;
  /** It was kept while nobody listened, and nobody waits for the answer. */
  isFromInbox: boolean;
};

export type RelayAnswer = {
  /** 200 to 599. */
  status: number;
  headers?: HeaderPairs | Record<string, string> | undefined;
  body?: Uint8Array | string | undefined;
};

/** @param data of the event `request` */
export function readRelayedRequest(data: string): RelayedRequest {
  try {
    const { bodyBase64, receivedAt, ...rest } = relayedRequestSchema.parse(JSON.parse(data));
    return { ...rest, body: fromBase64(bodyBase64), receivedAt: new Date(receivedAt) };
  } catch (cause) {
    const facts = { status: 200, code: "unexpected_answer", cause };
    throw new ApiError(
      "The relay handed over a request in a form that is not known. Use an SDK of the service's version.",
      facts,
    );
  }
}

/** The answer as it is sent. */
export function answerBody({ status, headers = [], body = "" }: RelayAnswer) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { status, headers: Array.isArray(headers) ? headers : Object.entries(headers), bodyBase64: toBase64(bytes) };
}
