import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { access, mkdtemp, readdir } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import type { Slot } from "../../../fair-queue/fair-queue.ts";
import { unfoldingRepo } from "../../testing/repos.ts";
import { fetches, pushes } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { type Arrival, HookChannel } from "./hook-channel.ts";
import { pktLine } from "./pkt-line.ts";
import { pushSettings } from "./transfer-settings.ts";
import { withTransfer } from "./with-transfer.ts";

test("S137 a transfer that cannot be started holds no slot", async () => {
  const impossible = { env: { NAME: "a\0b" } };
  await expect(withTransfer(fetches, tmpdir(), ["version"], impossible, async () => undefined)).rejects.toThrow();
  expect(fetches.counts.taken).toBe(0);
});

const STARVED = `
  const { openSync } = await import("node:fs");
  const { spawnGit } = await import(process.argv[1]);
  (await spawnGit("/tmp", ["version"])).stdout.resume();
  try { for (;;) openSync("/dev/null"); } catch {}
  let code;
  try { await spawnGit("/tmp", ["version"]); } catch (error) { code = error.code; }
  setTimeout(() => process.exit(code === "unavailable" ? 0 : 3), 50);
`;

test("S137 a failure to start git ends no process", async () => {
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

test("S137 a push that fails while its hook waits releases its slot", async () => {
  const path = await mkdtemp(join(tmpdir(), "push-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  const tree = (await runGit(path, ["mktree"], { input: "" })).toString().trim();
  const person = { NAME: "Ada", EMAIL: "ada@example.test" };
  const env = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => Object.entries(person).map(([key, value]) => [`GIT_${role}_${key}`, value])),
  );
  const commit = (await runGit(path, ["commit-tree", tree, "-m", "x"], { env })).toString().trim();
  const pack = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  let arrival: Arrival | undefined;
  const pushed = withTransfer(
    pushes,
    path,
    ["receive-pack", "--stateless-rpc", "--", path],
    { isLimited: true, hasChannel: true, config: pushSettings("plain") },
    async ({ child }) => {
      child.stdout.resume();
      const channel = new HookChannel(child);
      child.stdin.write(pktLine(`${"0".repeat(40)} ${commit} refs/heads/main\0 report-status`));
      child.stdin.write(Buffer.concat([Buffer.from("0000"), pack, hash("sha1", pack, "buffer")]));
      arrival = await channel.arrival;
      throw new Error("the database is away");
    },
  );
  await expect(pushed).rejects.toThrow("the database is away");
  expect(pushes.counts.taken).toBe(0);
  expect(arrival).toMatchObject({ objects: 0, isUnreadable: false });
  await expect(access(arrival?.quarantine as string)).rejects.toThrow("ENOENT");
  expect((await readdir(join(path, "objects"))).filter((name) => /tmp|incoming/.test(name))).toEqual([]);
});

test("S137 processes that git leaves running hold no slot after git has ended", async () => {
  const path = await mkdtemp(join(tmpdir(), "left-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  const left = ["-c", "alias.leave=!sleep 60 & echo $!", "leave"];
  let pid = 0;
  await withTransfer(
    pushes,
    path,
    left,
    { hasChannel: true },
    async ({ child }) => {
      child.stdout.on("data", (chunk: Buffer) => {
        pid = Number(chunk.toString());
      });
    },
    { leftOpenMs: 50 },
  );
  process.kill(pid);
  expect(pushes.counts.taken).toBe(0);
});

test("S137 git that computes without sending yields its slot to a waiting party", async () => {
  const path = await openRepository(await unfoldingRepo(await signedInPerson()));
  const blob = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: "/9\n" })).toString().trim();
  const server = createServer((_, res) => {
    const endless = ["rev-list", "--objects", `--filter=sparse:oid=${blob}`, "main"];
    const transfer = withTransfer(
      fetches,
      path,
      endless,
      {},
      async ({ child, endWithClient }) => {
        endWithClient(res);
        await pipeline(child.stdout, res);
      },
      { computeGraceMs: 50 },
    );
    transfer.catch(() => res.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const req = request({ port: (server.address() as AddressInfo).port });
  const closed = once(
    req.on("error", () => undefined),
    "close",
  );
  req.on("response", (res) => res.on("error", () => undefined).resume()).end();
  await expect.poll(() => fetches.counts.taken, { interval: 5 }).toBe(1);
  const others: Promise<Slot>[] = [];
  for (let party = 0; fetches.counts.waiting === 0; party++) {
    others.push(fetches.take({ party: { key: `account ${party}`, isAnonymous: false } }));
  }
  const places = await Promise.all(others);
  await closed;
  for (const release of places) release();
  await expect.poll(() => fetches.counts).toMatchObject({ taken: 0, waiting: 0 });
  server.close();
});
