import { createParser, type EventSourceMessage } from "eventsource-parser";
import { log } from "../../log.ts";
import { isOutboundFailure } from "../../outbound/request.ts";
import type { AnswerCounter } from "./answer-counter.ts";

/** An event is a few words; this length is not plausible. */
const EVENT_MAX_BYTES = 8 * 1024 * 1024;

export type Relay = {
  body: AsyncIterable<Uint8Array>;
  counter: AnswerCounter;
  names: { name: string; upstreamName: string };
  isUsageWanted: boolean;
  /** Aborted when the client has left: nobody needs a message then. */
  signal: AbortSignal;
};

/**
 * The events of a provider's response, each as soon as it arrives (text/event-stream): with the model's requested name, and without the
 * token count if only we requested it. A response that breaks off ends with an event that says so.
 */
export async function* relayEvents({ body, signal, ...relay }: Relay): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  let pending = 0;
  const parser = createParser({
    onEvent: (event) => {
      pending = 0;
      ready.push(relayed(event, relay));
    },
    // Comments that keep connections awake are passed on.
    onComment: (comment) => void ready.push(`:${comment}\n\n`),
  });
  const decoder = new TextDecoder();
  try {
    for await (const piece of body) {
      // Before it is fed: an event within it resets the count. Comments do not, or an event could grow behind them without end.
      pending += piece.length;
      parser.feed(decoder.decode(piece, { stream: true }));
      const text = ready.splice(0).join("");
      if (text) yield text;
      if (pending > EVENT_MAX_BYTES) {
        yield failure("upstream_error", "The provider sent what is no event of an answer.");
        return;
      }
    }
    parser.feed(decoder.decode());
    const rest = ready.splice(0).join("");
    if (rest) yield rest;
  } catch (error) {
    if (signal.aborted) return;
    if (!isOutboundFailure(error)) {
      log().error({ err: error }, "an answer of an inference provider could not be passed on");
      yield failure("server_error", "Something went wrong on our side. The answer is not complete.");
      return;
    }
    const isTimeout = error.result.outcome === "unreachable" && error.result.isTimeout;
    log().warn({ reason: error.result.reason }, "an inference provider's answer broke off");
    yield isTimeout
      ? failure("upstream_timeout", "The provider fell silent. The answer is not complete.")
      : failure("upstream_error", "The provider broke off. The answer is not complete.");
  }
}

function relayed(event: EventSourceMessage, { counter, names, isUsageWanted }: Omit<Relay, "body" | "signal">): string {
  const data = objectIn(event.data);
  if (!data) return written(event, event.data);
  counter.take(data);
  let isChanged = rename(data, names);
  const response = data.response;
  if (typeof response === "object" && response !== null)
    isChanged = rename(response as Record<string, unknown>, names) || isChanged;
  if (!isUsageWanted && "usage" in data) {
    // A client that did not request the count does not get the event that only contains it.
    if (data.usage !== null && Array.isArray(data.choices) && data.choices.length === 0) return "";
    delete data.usage;
    isChanged = true;
  }
  return written(event, isChanged ? JSON.stringify(data) : event.data);
}

/** @returns whether there was anything to rename */
export function rename(data: Record<string, unknown>, { name, upstreamName }: Relay["names"]): boolean {
  if (data.model !== upstreamName || name === upstreamName) return false;
  data.model = name;
  return true;
}

function objectIn(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function written({ event, id }: EventSourceMessage, data: string): string {
  const lines = data.split("\n").map((line) => `data: ${line}\n`);
  return `${event ? `event: ${event}\n` : ""}${id ? `id: ${id}\n` : ""}${lines.join("")}\n`;
}

/** In the form in which clients of this API expect failures within a stream. */
function failure(code: string, message: string): string {
  return `data: ${JSON.stringify({ error: { message, type: code === "server_error" ? code : "upstream_error", code, param: null } })}\n\n`;
}
