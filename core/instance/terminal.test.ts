import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { makeFormatter, prepareTerminal, printLines } from "./terminal.ts";

test("a log line is readable at a terminal, and cannot control the terminal", async () => {
  const format = await makeFormatter();
  const msg = "cannot call \u001b]0;title\u0007\u009b2J\u007f there";
  const line = format(JSON.stringify({ level: 40, time: 0, pid: 1, hostname: "host", url: "http://\u001b[2J", msg }));
  expect(line).toContain("WARN");
  expect(line).toContain("cannot call \ufffd]0;title\ufffd\ufffd2J\ufffd there");
  expect(line).not.toContain("hostname");
  expect(format(JSON.stringify({ level: 50, err: { stack: "Error: \u001b[2J\n    at here" } }))).toMatch(
    /Error: \ufffd\[2J\n\s+at here/,
  );
  expect(format("not JSON")).toBe("not JSON\n");
});

test("a client's text cannot begin a line or overwrite one", async () => {
  const format = await makeFormatter();
  const text = "a\r\b\f\\n\nWARN: b\tc";
  const line = format(JSON.stringify({ level: 40, time: 0, msg: text, err: { stack: text } }));
  expect(line.split("\n").filter((each) => each.startsWith("WARN"))).toEqual([]);
  expect(line).toContain("a\ufffd\ufffd\ufffd\\n\n");
  expect(format("not\u001b[2J JSON")).toBe("not\ufffd[2J JSON\n");
});

test("only line feeds end a line of a process's output", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const { isTTY } = process.stdout;
  process.stdout.isTTY = true;
  await prepareTerminal({ isDevelopment: true });
  const output = new PassThrough();
  printLines(output);
  for (const piece of ["a\u2028", "b\r\nc\n", "d"]) output.write(piece);
  output.end();
  await vi.waitFor(() => expect(write).toHaveBeenCalledTimes(3));
  const lines = write.mock.calls.map(([line]) => line);
  process.stdout.isTTY = isTTY;
  write.mockRestore();
  expect(lines).toEqual(["a\u2028b\n", "c\n", "d\n"]);
});
