import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { runGit, spawnGit } from "./run-git.ts";
import { fetchLimits } from "./smart-http/transfer-settings.ts";

test("S138 git that takes too long is ended, which is no failure of ours", async () => {
  const endless = new Readable({ read: () => undefined });
  const running = runGit(tmpdir(), ["hash-object", "--stdin"], { input: endless, timeoutMs: 100 });
  await expect(running).rejects.toMatchObject({ name: "ServiceError", code: "unavailable", retryAfterSeconds: 60 });
});

test("S137 limited git has the memory and the processor time that it is given", async () => {
  const path = await mkdtemp(join(tmpdir(), "limits-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  const child = await spawnGit(path, ["cat-file", "--batch"], { ...fetchLimits });
  // The shell that sets the limits is replaced by git.
  await expect.poll(() => readFileSync(`/proc/${child.pid}/comm`, "utf8").trim()).toBe("git");
  const limits = readFileSync(`/proc/${child.pid}/limits`, "utf8");
  const killedFirst = Number(readFileSync(`/proc/${child.pid}/oom_score_adj`, "utf8"));
  child.stdin.end();
  await once(child.stdout, "close");
  expect(limits).toMatch(/^Max cpu time +1800 /m);
  expect(fetchLimits.memoryMiB).toBeLessThanOrEqual(3 * 1024);
  expect(limits).toMatch(new RegExp(`^Max address space +${fetchLimits.memoryMiB * 1024 ** 2} `, "m"));
  // If memory still runs out, the kernel ends git and not the service.
  expect(killedFirst).toBe(900);
});
