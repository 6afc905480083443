import { describe, expect, test } from "vitest";
import { EventStreamParser } from "./event-stream.ts";

const parse = (...pieces: string[]) => {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => [...parser.push(piece)]);
};

describe("events", () => {
  /** HTML §9.2.6 */
  const streams: [string, { event: string; data: string; id?: string }[]][] = [
    [
      "data: 1\n\ndata: 2\n\n",
      [
        { event: "message", data: "1" },
        { event: "message", data: "2" },
      ],
    ],
    ["data: a\ndata:b\ndata\n\n", [{ event: "message", data: "a\nb\n" }]],
    [
      "event: push\ndata: {}\n\ndata: after\n\n",
      [
        { event: "push", data: "{}" },
        { event: "message", data: "after" },
      ],
    ],
    [": comment\n\n:\ndata: 1\n\n", [{ event: "message", data: "1" }]],
    ["id: 1\nevent: x\ndata: with\n\n", [{ event: "x", data: "with", id: "1" }]],
    ["id: 1\nevent: x\n\ndata: without\n\n", [{ event: "message", data: "without" }]],
    [
      "data: 1\r\n\r\ndata: 2\r\n\r\n",
      [
        { event: "message", data: "1" },
        { event: "message", data: "2" },
      ],
    ],
    ["retry: 3000\nunknown: field\ndata:  two spaces\n\n", [{ event: "message", data: " two spaces" }]],
    ["data: é 🪁 \u2028 \u0085\n\n", [{ event: "message", data: "é 🪁 \u2028 \u0085" }]],
    ["data: not ended", []],
  ];

  test.each(streams)("in %j are parsed as in the standard, wherever the text is cut", (text, wanted) => {
    expect(parse(text)).toEqual(wanted);
    expect(parse(...text)).toEqual(wanted);
    for (let cut = 1; cut < text.length; cut += 1)
      expect(parse(text.slice(0, cut), text.slice(cut)), `cut at ${cut}`).toEqual(wanted);
  });

  test("keep the ID until another one arrives, as the standard requires", () => {
    expect(parse("id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: x\0y\ndata: d\n\n").map(({ id }) => id)).toEqual([
      "7",
      "7",
      "",
      "",
    ]);
  });

  test("may end their lines with CR alone, and the stream may begin with a byte order mark", () => {
    expect(parse("\ufeffdata: 1\r\rdata: 2\r", "\r", "data: 3\r", "\n\r", "\n")).toMatchObject([
      { data: "1" },
      { data: "2" },
      { data: "3" },
    ]);
  });

  test("are refused if they never end, and pings are ignored", () => {
    const parser = new EventStreamParser();
    const piece = `data: ${"x".repeat(1024 * 1024)}\n`;
    const push = () => {
      for (let n = 0; n < 100; n += 1) for (const _ of parser.push(piece)) expect.unreachable("there is no end");
    };
    expect(push).toThrow(expect.objectContaining({ name: "ApiError", code: "unexpected_answer" }));
    const pinging = new EventStreamParser();
    const ping = `:${" ".repeat(1024 * 1024)}\n\n`;
    for (let n = 0; n < 100; n += 1) expect([...pinging.push(ping)]).toEqual([]);
  });
});
