import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { afterEach, expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { requestContext } from "../../../log.ts";
import type { Repo } from "../../repos/repo.ts";
import { someRepo } from "../../testing/repos.ts";
import { downloads } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { streamBlob } from "./find-file.ts";

const SIZE = 24 * 1024 * 1024;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => downloads.counts.taken, { timeout: 10_000 }).toBe(0);
});

async function serving(pace: Parameters<typeof streamBlob>[2]): Promise<number> {
  const repo: Repo = await someRepo(await signedInPerson());
  const oid = (await runGit(await openRepository(repo), ["hash-object", "-w", "--stdin"], { input: Buffer.alloc(SIZE, "x") }))
    .toString()
    .trim();
  const server = createServer((req, res) => {
    const ip = req.url?.slice(1) ?? "";
    void requestContext.run({ requestId: "test", ip }, async () => {
      try {
        await pipeline(await streamBlob(repo, oid, pace), res);
      } catch {
        res.destroy();
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return (server.address() as AddressInfo).port;
}

async function ask(port: number, ip: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(`GET /${ip} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  return socket;
}

const quick = { checkEveryMs: 20, contendedGraceMs: 200 };

test("S137 a download that nobody reads loses its slot", async () => {
  const port = await serving({ ...quick, graceMs: 400 });
  await ask(port, "192.0.2.1");
  await expect.poll(() => downloads.counts.taken).toBe(1);
  await expect.poll(() => downloads.counts.taken, { timeout: 10_000 }).toBe(0);
});

test("S137 unread downloads continue until another caller needs a slot", async () => {
  const port = await serving({ ...quick, graceMs: 60_000 });
  for (let each = 0; downloads.counts.waiting === 0 && each < 64; each++) {
    await ask(port, `192.0.2.${each}`);
    await expect.poll(() => downloads.counts.taken + downloads.counts.waiting).toBeGreaterThan(0);
  }
  const newcomer = await ask(port, "198.51.100.1");
  let received = 0;
  for await (const chunk of newcomer) received += (chunk as Buffer).length;
  expect(received).toBeGreaterThan(SIZE);
}, 60_000);
