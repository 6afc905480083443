import { createParser, type EventSourceMessage } from "eventsource-parser";
import { log } from "../../log.ts";
import { isOutboundFailure } from "../../outbound/request.ts";
import { COMPLETION_MAX, type CompletionEstimate, type TokenCount, tokenCountOf, tokensOfText } from "../metering/token-count.ts";

const EVENT_MAX_BYTES = 8 * 1024 * 1024;

type PassingOn = {
  body: AsyncIterable<Uint8Array>;
  counter: AnswerCounter;
  names: { name: string; upstreamName: string };
  isUsageWanted: boolean;
  signal: AbortSignal;
};

export async function* passOnEvents({ body, signal, ...passing }: PassingOn): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  let pending = 0;
  const parser = createParser({
    onEvent: (event) => {
      pending = 0;
      ready.push(passedOn(event, passing));
    },
    onComment: (comment) => void ready.push(`:${comment}\n\n`),
  });
  const decoder = new TextDecoder();
  try {
    for await (const piece of body) {
      // A complete event resets the count, so each piece is counted before parsing. Comments must not reset the count.
      pending += piece.length;
      parser.feed(decoder.decode(piece, { stream: true }));
      const text = ready.splice(0).join("");
      if (text) yield text;
      if (pending > EVENT_MAX_BYTES) {
        passing.counter.abandon();
        yield failure("upstream_error", "The provider sent an event that is too large. The response is incomplete.");
        return;
      }
    }
    parser.feed(decoder.decode());
    const rest = ready.splice(0).join("");
    if (rest) yield rest;
  } catch (error) {
    if (signal.aborted) return;
    if (!isOutboundFailure(error)) {
      log().error({ err: error }, "a response of an inference provider could not be passed on");
      yield failure("server_error", "Something went wrong on our side. The response is incomplete.");
      return;
    }
    const isTimeout = error.result.outcome === "unreachable" && error.result.isTimeout;
    if (isTimeout) passing.counter.abandon();
    log().warn({ reason: error.result.reason }, "an inference provider's response broke off");
    yield isTimeout
      ? failure("upstream_timeout", "The provider stopped sending. The response is incomplete.")
      : failure("upstream_error", "The provider closed the connection. The response is incomplete.");
  }
}

function passedOn(event: EventSourceMessage, { counter, names, isUsageWanted }: Omit<PassingOn, "body" | "signal">): string {
  const data = objectIn(event.data);
  if (!data) return written(event, event.data);
  counter.take(data);
  let isChanged = rename(data, names);
  const response = data.response;
  if (typeof response === "object" && response !== null)
    isChanged = rename(response as Record<string, unknown>, names) || isChanged;
  if (!isUsageWanted && "usage" in data) {
    // This event contains only the token count, which the client did not request.
    if (data.usage !== null && Array.isArray(data.choices) && data.choices.length === 0) return "";
    delete data.usage;
    isChanged = true;
  }
  return written(event, isChanged ? JSON.stringify(data) : event.data);
}

export function rename(data: Record<string, unknown>, { name, upstreamName }: PassingOn["names"]): boolean {
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

function failure(code: string, message: string): string {
  return `data: ${JSON.stringify({ error: { message, type: code === "server_error" ? code : "upstream_error", code, param: null } })}\n\n`;
}

export class AnswerCounter {
  readonly #prompt: number;
  readonly #completion: CompletionEstimate;
  readonly #begin = performance.now();
  #heardAt = this.#begin;
  #reported: TokenCount | undefined;
  /** These three count what came after the last report. */
  #events = 0;
  #textBytes = 0;
  #silentSeconds = 1;
  #unseen: number | undefined;

  constructor(prompt: number, completion: CompletionEstimate) {
    this.#prompt = prompt;
    this.#completion = completion;
  }

  take(data: Record<string, unknown>): void {
    const response = Object(data.response) as Record<string, unknown>;
    const reported = tokenCountOf(data.usage) ?? tokenCountOf(response.usage);
    const textBytes = reported ? 0 : textBytesOf(data);
    if (reported) {
      this.#reported = reported;
      this.#events = this.#textBytes = this.#silentSeconds = 0;
    } else if (textBytes > 0) {
      this.#events++;
      this.#textBytes += textBytes;
      this.#silentSeconds += this.#secondsOfSilence();
    } else return;
    this.#heardAt = performance.now();
  }

  #secondsOfSilence(): number {
    return Math.floor((performance.now() - this.#heardAt) / 1_000);
  }

  seconds(): number {
    return Math.ceil((performance.now() - this.#begin) / 1_000);
  }

  /**
   * Call this if nobody waits for the rest of the answer. In seconds without text, the provider may have generated text that did
   * not arrive. Only the time limits this text, because a provider may ignore the client's maximum.
   */
  abandon(): void {
    const seconds = this.#silentSeconds + this.#secondsOfSilence();
    this.#unseen ??= Math.min(COMPLETION_MAX, seconds * this.#completion.perSecond);
  }

  /** The whole answer was generated, but this service does not read it. */
  refuse(): void {
    this.#unseen = this.#completion.perSecond > 0 ? COMPLETION_MAX : 0;
  }

  get isBrokenOff(): boolean {
    return this.#unseen !== undefined;
  }

  result(): TokenCount {
    // An event with text has at least one token.
    const rest = Math.max(this.#events, tokensOfText(this.#textBytes)) + (this.#unseen ?? 0);
    const { prompt, completion } = this.#reported ?? { prompt: this.#prompt, completion: 0 };
    return { prompt, completion: completion + rest, isEstimated: rest > 0 || !this.#reported };
  }
}

function textBytesOf(data: Record<string, unknown>): number {
  // Other events of the responses API repeat this text.
  if (typeof data.type === "string" && data.type.endsWith(".delta")) return bytesOf(data.delta);
  const choices = Array.isArray(data.choices) ? data.choices : [];
  let bytes = 0;
  for (const choice of choices) {
    const { text, delta, message } = Object(choice) as Record<string, unknown>;
    const part = Object(delta ?? message) as Record<string, unknown>;
    bytes += bytesOf(text) + bytesOf(part.content) + bytesOf(part.reasoning_content) + bytesOf(part.refusal);
    for (const call of Array.isArray(part.tool_calls) ? part.tool_calls : []) {
      const { name, arguments: given } = Object(Object(call).function) as Record<string, unknown>;
      bytes += bytesOf(name) + bytesOf(given);
    }
  }
  for (const item of Array.isArray(data.output) ? data.output : []) {
    const parts = Object(item).content;
    for (const part of Array.isArray(parts) ? parts : []) bytes += bytesOf(Object(part).text);
  }
  return bytes;
}

const bytesOf = (value: unknown): number => (typeof value === "string" ? Buffer.byteLength(value) : 0);
