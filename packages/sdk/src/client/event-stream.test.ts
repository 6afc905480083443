import { createParser, type EventSourceMessage } from "eventsource-parser";
import { describe, expect, test } from "vitest";
import { EventStreamParser } from "./event-stream.ts";

const parse = (...pieces: string[]) => {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => [...parser.push(piece)]);
};

/** What a published parser makes of it. */
function published(text: string) {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => void events.push(event) }).feed(text);
  return events.map(({ event = "message", data, id }) => ({ event, data, ...(id !== undefined && { id }) }));
}

describe("events", () => {
  const streams = [
    "data: 1\n\ndata: 2\n\n",
    "data: a\ndata:b\ndata\n\n",
    "event: push\ndata: {}\n\ndata: after\n\n",
    ": comment\n\n:\ndata: 1\n\n",
    "id: 1\nevent: x\n\ndata: without\n\n",
    "data: 1\r\n\r\ndata: 2\r\n\r\n",
    "retry: 3000\nunknown: field\ndata:  two spaces\n\n",
    "data: é 🪁 \u2028 \u0085\n\n",
    "data: not ended",
  ];

  test.each(streams)("of %j are those of a published parser, in whatever pieces they come", (text) => {
    const whole = parse(text);
    expect(whole.map(({ event, data }) => ({ event, data }))).toEqual(
      published(text).map(({ event, data }) => ({ event, data })),
    );
    expect(parse(...text)).toEqual(whole);
    for (let cut = 1; cut < text.length; cut += 1)
      expect(parse(text.slice(0, cut), text.slice(cut)), `cut at ${cut}`).toEqual(whole);
  });

  test("keep the id until another one comes, as the standard has it", () => {
    expect(parse("id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: x\0y\ndata: d\n\n").map(({ id }) => id)).toEqual([
      "7",
      "7",
      "",
      "",
    ]);
  });

  test("may end their lines with CR alone, and the stream begin with a mark", () => {
    expect(parse("\ufeffdata: 1\r\rdata: 2\r", "\r", "data: 3\r", "\n\r", "\n")).toMatchObject([
      { data: "1" },
      { data: "2" },
      { data: "3" },
    ]);
  });

  test("without an end are given up; heartbeats are none", () => {
    const parser = new EventStreamParser();
    const piece = `data: ${"x".repeat(1024 * 1024)}\n`;
    const push = () => {
      for (let n = 0; n < 100; n += 1) for (const _ of parser.push(piece)) expect.unreachable("there is no end");
    };
    expect(push).toThrow(expect.objectContaining({ name: "ApiError", code: "unexpected_answer" }));
    const beating = new EventStreamParser();
    const beat = `:${" ".repeat(1024 * 1024)}\n\n`;
    for (let n = 0; n < 100; n += 1) expect([...beating.push(beat)]).toEqual([]);
  });
});
