import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { childrenOf } from "./linux-process.ts";
import { gitLines, runGit, spawnGit } from "./run-git.ts";
import { fetchLimits } from "./smart-http/transfer-settings.ts";

test("S138 git that takes too long is ended without a server error", async () => {
  const endless = new Readable({ read: () => undefined });
  const running = runGit(tmpdir(), ["hash-object", "--stdin"], { input: endless, timeoutMs: 100 });
  await expect(running).rejects.toMatchObject({ name: "ServiceError", code: "unavailable", retryAfterSeconds: 60 });
});

test("S138 git that has used up its processor time causes no server error", {
  timeout: 60_000,
}, async () => {
  const path = await mkdtemp(join(tmpdir(), "busy-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  const zeros = Buffer.alloc(1024 * 1024);
  const limits = { isLimited: true, cpuSeconds: 1, timeoutMs: 50_000 };
  const endless = () =>
    new Readable({
      read() {
        this.push(zeros);
      },
    });
  const refusal = { name: "ServiceError", code: "unavailable", retryAfterSeconds: 60 };
  await expect(runGit(path, ["hash-object", "--stdin"], { input: endless(), ...limits })).rejects.toMatchObject(refusal);
  const lines = gitLines(path, ["hash-object", "--stdin"], { input: endless(), ...limits });
  await expect(lines.next()).rejects.toMatchObject(refusal);
});

test("S137 limited git has the allowed memory and processor time", async () => {
  const path = await mkdtemp(join(tmpdir(), "limits-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  const child = await spawnGit(path, ["cat-file", "--batch"], { ...fetchLimits });
  // Waits until git has replaced the shell that sets the limits.
  await expect.poll(() => readFileSync(`/proc/${child.pid}/comm`, "utf8").trim()).toBe("git");
  const limits = readFileSync(`/proc/${child.pid}/limits`, "utf8");
  const killedFirst = Number(readFileSync(`/proc/${child.pid}/oom_score_adj`, "utf8"));
  child.stdin.end();
  await once(child.stdout, "close");
  expect(limits).toMatch(/^Max cpu time +1800 /m);
  expect(fetchLimits.memoryMiB).toBeLessThanOrEqual(3 * 1024);
  expect(limits).toMatch(new RegExp(`^Max address space +${fetchLimits.memoryMiB * 1024 ** 2} `, "m"));
  expect(killedFirst).toBe(900);
});

test("S137 git with a hook gets the lowest priority after a while, with all its children", async () => {
  const path = await mkdtemp(join(tmpdir(), "old-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  const alias = "alias.wait=!sleep 30; :";
  const child = await spawnGit(path, ["wait"], { config: [alias], hasChannel: true, niceness: 10, oldAfterMs: 500 });
  const family = () => {
    const pids = [child.pid as number];
    for (const pid of pids) pids.push(...childrenOf(pid));
    return pids.map((pid) => getPriority(pid));
  };
  await expect.poll(family).toEqual([19, 19, 19]);
  for (const pid of childrenOf(childrenOf(child.pid as number)[0] as number)) process.kill(pid);
  child.stdout.resume();
  child.stderr.resume();
  await once(child.stdout, "close");
});
