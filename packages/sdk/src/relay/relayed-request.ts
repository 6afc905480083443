import { ApiError } from "../client/api-error.ts";
import { relayedRequestSchema } from "./schemas.ts";

/** Headers in the order in which they were sent. @group Relay */
export type HeaderPairs = [name: string, value: string][];

/** A request that was sent to a relay's URL. @group Relay */
export type RelayedRequest = {
  id: string;
  method: string;
  /** The path after the relay's URL, with the query: `/webhooks/onPush?x=1`. */
  path: string;
  /** The headers in the order in which they were sent. A name may occur several times. */
  headers: HeaderPairs;
  /** The bytes that were sent. */
  body: Uint8Array<ArrayBuffer>;
  receivedAt: Date;
  /** Whether the request was kept while nobody listened. Then its sender does not wait for the response. */
  isFromInbox: boolean;
};

/** The response to a relayed request. @group Relay */
export type RelayAnswer = {
  /** An HTTP status from 200 to 599. */
  status: number;
  headers?: HeaderPairs | Record<string, string> | undefined;
  body?: Uint8Array | string | undefined;
};

export function readRelayedRequest(data: string): RelayedRequest {
  try {
    const { bodyBase64, receivedAt, ...rest } = relayedRequestSchema.parse(JSON.parse(data));
    return { ...rest, body: fromBase64(bodyBase64), receivedAt: new Date(receivedAt) };
  } catch (cause) {
    const facts = { status: 200, code: "unexpected_answer", cause };
    throw new ApiError(
      "The relay has a request that this SDK does not know. Use the SDK version that matches the service.",
      facts,
    );
  }
}

export function answerBody({ status, headers = [], body = "" }: RelayAnswer) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { status, headers: Array.isArray(headers) ? headers : Object.entries(headers), bodyBase64: toBase64(bytes) };
}

/** Far more arguments in one call would overflow the stack. */
const PIECE = 8_192;

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
