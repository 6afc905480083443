import { ApiError } from "./api-error.ts";

export type ServerSentEvent = {
  /** `message` where the stream names none. */
  event: string;
  data: string;
  /** The latest id that the stream gave, this event's or an earlier one's: `lastEventId` to go on from here. */
  id?: string;
};

/** An event longer than this is a mistake, or an attack. */
const EVENT_MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * Text in pieces as events. Give it the stream's pieces one after the other.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class EventStreamParser {
  #begun: string[] = [];
  #begunCharacters = 0;
  #endedInReturn = false;
  #isFirst = true;
  #event = "";
  #data: string[] = [];
  #id: string | undefined;

  /** @throws ApiError of an event without an end */
  *push(piece: string): Generator<ServerSentEvent> {
    let text = piece;
    if (this.#isFirst && text !== "") {
      this.#isFirst = false;
      if (text.startsWith("\ufeff")) text = text.slice(1);
    }
    // A pair of CR and LF that came in two pieces is one end.
    if (this.#endedInReturn && text.startsWith("\n")) text = text.slice(1);
    if (piece !== "") this.#endedInReturn = false;
    const ends = /\r\n|\n|\r/g;
    let from = 0;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      const line = this.#begun.join("") + text.slice(from, end.index);
      this.#begun = [];
      from = ends.lastIndex;
      const event = this.#line(line);
      if (event) yield event;
    }
    if (text.endsWith("\r")) this.#endedInReturn = true;
    this.#begun.push(text.slice(from));
    this.#begunCharacters += text.length;
    if (this.#begunCharacters > EVENT_MAX_CHARACTERS) {
      throw new ApiError("The stream sends an event without an end.", { status: 200, code: "unexpected_answer" });
    }
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#dispatch();
    if (line.startsWith(":")) {
      if (this.#data.length === 0) this.#begunCharacters = 0;
      return undefined;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const [event, data] = [this.#event, this.#data];
    this.#event = "";
    this.#data = [];
    this.#begunCharacters = 0;
    if (data.length === 0) return undefined;
    return { event: event || "message", data: data.join("\n"), ...(this.#id !== undefined && { id: this.#id }) };
  }
}
