import { describe, expect, test } from "vitest";
import { newConfigDir } from "../../testing/run-cli.ts";
import { BadInput } from "../errors.ts";
import { chosenFormat } from "./format.ts";
import { cut, displayWidth, table } from "./table.ts";
import { visible, visibleLines } from "./visible.ts";

describe("a table", () => {
  const rows = [
    ["abc", "https://hooks.example.com/a/long/address", "repo"],
    ["d", "x", ""],
  ];

  test("is padded to its widest values, without spaces at the ends of lines", () => {
    expect(table(["id", "url", "domains"], rows, 200)).toEqual({
      lines: [
        "ID   URL                                       DOMAINS",
        "abc  https://hooks.example.com/a/long/address  repo",
        "d    x",
      ],
      isCut: false,
    });
  });

  test("gives way where it is widest, and says so", () => {
    const { lines, isCut } = table(["id", "url", "domains"], rows, 40);
    expect(isCut).toBe(true);
    expect(lines[1]).toBe("abc  https://hooks.example.com…  repo");
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(40);
    // Headers stay whole however narrow it is.
    expect(table(["id", "url", "domains"], rows, 5).lines[0]).toBe("ID   URL   DOMAINS");
  });

  test("counts wide characters as two, and cuts between characters", () => {
    expect([displayWidth("潮汐"), displayWidth("👩‍🚀"), displayWidth("é")]).toEqual([4, 2, 1]);
    expect(cut("潮汐表", 4)).toBe("潮…");
    expect(cut("👩‍🚀👩‍🚀", 3)).toBe("👩‍🚀…");
    expect(cut("abc", 3)).toBe("abc");
  });
});

test("what a terminal would obey is shown as its code", () => {
  expect(visible("a\u001b[31mred\u0007")).toBe("a\\x1b[31mred\\x07");
  expect(visible("two\nlines\tof\r text")).toBe("two lines of text");
  expect(visible("\u202egpj.exe")).toBe("\\u{202e}gpj.exe");
  expect(visibleLines("a\tb\r\nc\u001b]0;title\u0007")).toBe("a\tb\nc\\x1b]0;title\\x07");
});

test("auto is human on a terminal and agent elsewhere; one format is asked for at a time", () => {
  const [terminal, pipe] = [true, false].map((isTTY) => ({ stdout: { isTTY } }) as never);
  expect([chosenFormat({}, terminal as never), chosenFormat({}, pipe as never)]).toEqual(["human", "agent"]);
  expect(chosenFormat({ format: "auto" }, pipe as never)).toBe("agent");
  expect(chosenFormat({ json: true }, terminal as never)).toBe("json");
  expect(chosenFormat({ json: true, format: "json" }, terminal as never)).toBe("json");
  expect(() => chosenFormat({ json: true, quiet: true }, pipe as never)).toThrow(BadInput);
  expect(newConfigDir()).not.toBe(newConfigDir());
});
