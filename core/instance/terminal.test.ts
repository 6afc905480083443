import { expect, test } from "vitest";
import { makeFormatter } from "./terminal.ts";

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
