import { createParser } from "eventsource-parser";
import { unexpectedContent } from "./api-error.ts";

/** One event of a stream. @group Client */
export type ServerSentEvent = {
  /** The event's name; `message` if the stream gives none. */
  event: string;
  data: string;
  /** The latest ID in the stream, from this event or an earlier one. Pass it as `lastEventId` to continue from here. */
  id?: string;
};

/** The longest event in characters. A longer one is a mistake or an attack. */
const EVENT_MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * Turns the text of a `text/event-stream` into events, however it is split into chunks. {@link Transport.stream} does this already; use the
 * class for a stream that you read yourself.
 * @see [HTML Living Standard §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)
 * @group Client
 */
export class EventStreamParser {
  readonly #parser = createParser({
    maxBufferSize: EVENT_MAX_CHARACTERS,
    onEvent: ({ event = "message", data, id }) => {
      // In the standard an ID stays valid until the next ID. The parser returns the ID only with one event.
      this.#id = id ?? this.#id;
      this.#events.push({ event, data, ...(this.#id !== undefined && { id: this.#id }) });
    },
    onError: ({ type }) => {
      this.#isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  #events: ServerSentEvent[] = [];
  #id: string | undefined;
  #isFirst = true;
  #isTooLong = false;

  /**
   * Reads the next piece of the stream.
   * @param piece Decoded text of any length, such as from `TextDecoder.decode(bytes, { stream: true })`.
   * @returns The events that end in this piece.
   * @throws {@link ApiError} `unexpected_answer`: an event has more than 64 Mi characters.
   */
  *push(piece: string): Generator<ServerSentEvent> {
    if (piece === "") return;
    this.#parser.feed(this.#isFirst ? piece.replace(/^\ufeff/, "") : piece);
    this.#isFirst = false;
    const events = this.#events;
    this.#events = [];
    yield* events;
    if (this.#isTooLong) throw unexpectedContent("An event of the stream is too long.");
  }
}
