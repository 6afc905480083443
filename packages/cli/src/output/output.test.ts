import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { newConfigDir, runCli } from "../../testing/run-cli.ts";
import { BadInput } from "../errors.ts";
import { chosenFormat, cut, displayWidth, quotedForShell, table, visible, visibleJson, visibleLines } from "./printer.ts";

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

  test("shortens the longest column, and reports the cut", () => {
    const { lines, isCut } = table(["id", "url", "domains"], rows, 40);
    expect(isCut).toBe(true);
    expect(lines[1]).toBe("abc  https://hooks.example.com…  repo");
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(40);
    expect(table(["id", "url", "domains"], rows, 5).lines[0]).toBe("ID   URL   DOMAINS");
  });

  test("counts wide characters as two, and cuts between characters", () => {
    expect([displayWidth("潮汐"), displayWidth("👩‍🚀"), displayWidth("é")]).toEqual([4, 2, 1]);
    expect(cut("潮汐表", 4)).toBe("潮…");
    expect(cut("👩‍🚀👩‍🚀", 3)).toBe("👩‍🚀…");
    expect(cut("abc", 3)).toBe("abc");
  });
});

test("control characters are shown as codes", () => {
  expect(visible("a\u001b[31mred\u0007")).toBe("a\\x1b[31mred\\x07");
  expect(visible("two\nlines\tof\r text")).toBe("two lines of text");
  expect(visible("\u202egpj.exe")).toBe("\\u{202e}gpj.exe");
  expect(visibleLines("a\tb\r\nc\u001b]0;title\u0007")).toBe("a\tb\nc\\x1b]0;title\\x07");
});

test("control characters in JSON are escaped, and its values stay unchanged", () => {
  const others = { text: "\u009b2Jé\u202e\u{e0041}\u007f\n", "key\u009d": 1 };
  const shown = visibleJson(others, 2);
  expect(visibleLines(shown)).toBe(shown);
  expect(shown).toContain("é");
  expect(JSON.parse(shown)).toEqual(others);
});

test("control characters in a service's codes, URLs and errors are escaped", async () => {
  const title = "\u001b]0;gone\u0007";
  const server = createServer((req, res) => {
    const origin = `http://${req.headers.host}`;
    const bodies: Record<string, object> = {
      "/.well-known/openid-configuration": {
        ...{ issuer: origin, authorization_endpoint: `${origin}/a`, token_endpoint: `${origin}/t`, jwks_uri: `${origin}/j` },
        device_authorization_endpoint: `${origin}/d`,
      },
      "/d": {
        device_code: "x",
        user_code: `AB${title}`,
        verification_uri: `${origin}/v${title}`,
        expires_in: 900,
        interval: 0.01,
      },
    };
    const body = bodies[req.url ?? ""];
    res.writeHead(body ? 200 : 400, { "content-type": "application/json" });
    res.end(JSON.stringify(body ?? { error: "invalid_request", error_description: `no${title}` }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const format of ["human", "agent", "quiet"]) {
    const argv = ["login", `http://127.0.0.1:${port}`, "--format", format];
    const { code, stdout, stderr } = await runCli(argv, { isTerminal: format === "human", wait: async () => undefined });
    expect([code, stderr]).toEqual([1, expect.stringContaining("no\\x1b]0;gone\\x07")]);
    expect(stdout + stderr).toContain("AB\\x1b]0;gone\\x07");
    const others = [...(stdout + stderr).replaceAll("\u001b[2m", "").replaceAll("\u001b[0m", "")];
    expect(others.filter((one) => one !== "\n" && visibleLines(one) !== one)).toEqual([]);
  }
});

test("a URL in a command to copy cannot end its quotation", () => {
  expect(quotedForShell("https://x.example/a")).toBe("'https://x.example/a'");
  expect(quotedForShell("https://x.example/';id;")).toBe(String.raw`'https://x.example/'\'';id;'`);
});

test("auto is human on a terminal and agent elsewhere, and only one format can be requested", () => {
  const [terminal, pipe] = [true, false].map((isTTY) => ({ stdout: { isTTY } }) as never);
  expect([chosenFormat({}, terminal as never), chosenFormat({}, pipe as never)]).toEqual(["human", "agent"]);
  expect(chosenFormat({ format: "auto" }, pipe as never)).toBe("agent");
  expect(chosenFormat({ json: true }, terminal as never)).toBe("json");
  expect(chosenFormat({ json: true, format: "json" }, terminal as never)).toBe("json");
  expect(() => chosenFormat({ json: true, quiet: true }, pipe as never)).toThrow(BadInput);
  expect(newConfigDir()).not.toBe(newConfigDir());
});
