import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { fetches } from "../queues.ts";
import { withTransfer } from "./with-transfer.ts";

test("S137 a transfer that cannot be started holds no place", async () => {
  const impossible = { env: { NAME: "a\0b" } };
  await expect(withTransfer(fetches, tmpdir(), ["version"], impossible, async () => undefined)).rejects.toThrow();
  expect(fetches.counts.taken).toBe(0);
});

const STARVED = `
  const { openSync } = await import("node:fs");
  const { spawnGit } = await import(process.argv[1]);
  spawnGit("/tmp", ["version"]).stdout.resume();
  try { for (;;) openSync("/dev/null"); } catch {}
  let code;
  try { spawnGit("/tmp", ["version"]); } catch (error) { code = error.code; }
  setTimeout(() => process.exit(code === "unavailable" ? 0 : 3), 50);
`;

test("S137 git that cannot be started, since too much is open, ends no process but says so", async () => {
  const module = new URL("../run-git.ts", import.meta.url).href;
  const command = 'ulimit -n 128; exec "$0" --input-type=module -e "$1" "$2"';
  const child = spawn("sh", ["-c", command, process.execPath, STARVED, module], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
