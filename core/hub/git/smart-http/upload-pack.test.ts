import { execFileSync } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import type { Party } from "../../../fair-queue/party.ts";
import { requestContext } from "../../../log.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { fetches } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { bandPackets, FLUSH, PktPosition, pktLine } from "./pkt-line.ts";
import { FetchMemory, uploadPack } from "./upload-pack.ts";

const MIB = 1024 * 1024;
const OBJECTS = 15_000;
const MAX_BYTES = 32 * MIB;
const FETCHES_MAX = 12;

const server = createServer();
let repo: Repo;
let head: string;
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const ada = await signedInPerson();
  repo = await someRepo(ada);
  const many = Array.from({ length: OBJECTS }, (_, at) => [`files/${at % 100}/${at}.txt`, `${at}`] as const);
  head = await commitTo(repo, ada, { ...Object.fromEntries(many), "noise.bin": randomBytes(32 * MIB) });
});
afterAll(() => server.close());

type Held = { res: IncomingMessage; isEnded: boolean };

async function hold(party: Party, memory: FetchMemory): Promise<Held> {
  const asked = Promise.withResolvers<ServerResponse>();
  server.once("request", (req, res) => {
    asked.resolve(res);
    void requestContext.run({ requestId: "test", party }, () => uploadPack(repo, { req, res }, { memory }));
  });
  const { port } = server.address() as AddressInfo;
  const headers = { "content-type": "application/x-git-upload-pack-request" };
  const req = request({ port, method: "POST", headers, agent: false });
  req.end(Buffer.concat([pktLine(`want ${head} ofs-delta\n`), Buffer.from("0000"), pktLine("done\n")]));
  const [res] = (await once(req, "response")) as [IncomingMessage];
  const held = { res: res.on("error", () => undefined), isEnded: false };
  const answer = await asked.promise;
  answer.once("close", () => {
    held.isEnded = !answer.writableFinished;
  });
  await new Promise<void>((resolve) => {
    answer.once("close", resolve);
    res.on("data", (chunk: Buffer) => {
      if (!chunk.includes("PACK")) return;
      res.pause();
      resolve();
    });
  });
  return held;
}

test("the position between packets is known for pieces of any size", () => {
  const lines = [pktLine("acknowledgments\n"), pktLine("NAK\n"), Buffer.from("0001"), pktLine("packfile\n")];
  const stream = Buffer.concat([...lines, bandPackets(2, Buffer.from("Counting")), bandPackets(1, randomBytes(70_000))]);
  const after = (bytes: Buffer, ...cuts: number[]) => {
    const position = new PktPosition();
    for (const [at, cut] of [0, ...cuts].entries()) position.push(bytes.subarray(cut, cuts[at]));
    return position.takesBandPacket;
  };
  for (let cut = 1; cut < 100; cut++) expect(after(stream, cut, 2 * cut + 5), `${cut}`).toBe(true);
  expect(after(stream.subarray(0, -1))).toBe(false);
  expect(after(stream.subarray(0, stream.indexOf("000dpackfile")))).toBe(false);
  expect(after(Buffer.concat([pktLine("NAK\n"), Buffer.from("PACK and more")]))).toBe(false);
});

test("S137 a client that waits for the pack of an ended fetch gets the advice to try again", async () => {
  const ada = await signedInPerson();
  const own = await someRepo(ada);
  const first = await commitTo(own, ada, { "a.txt": "a" });
  const want = await commitTo(own, ada, { "a.txt": "b" });
  // Git waits for the first commit until somebody writes to this pipe.
  const object = join(await openRepository(own), "objects", first.slice(0, 2), first.slice(2));
  await rm(object);
  execFileSync("mkfifo", [object]);
  server.once("request", (req, res) => void uploadPack(own, { req, res }, { memory: new FetchMemory(1) }));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([pktLine("command=fetch\n"), Buffer.from("0001"), pktLine(`want ${want}\n`), pktLine("done\n"), FLUSH]),
  });
  const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
  expect(text).toMatch(/^000dpackfile\n/);
  expect(text).toContain("\u0003The running fetches use too much memory. Try again");
  await expect.poll(() => fetches.counts.taken, { timeout: 10_000 }).toBe(0);
});

async function clone(party: Party, sendAfter: (bytes: number) => number): Promise<IncomingMessage> {
  server.once("request", (req, res) => {
    void requestContext.run({ requestId: "test", party, sendAfter }, () => uploadPack(repo, { req, res }));
  });
  const { port } = server.address() as AddressInfo;
  const headers = { "content-type": "application/x-git-upload-pack-request" };
  const req = request({ port, method: "POST", headers, agent: false });
  req.end(Buffer.concat([pktLine(`want ${head} ofs-delta\n`), Buffer.from("0000"), pktLine("done\n")]));
  const [res] = (await once(req, "response")) as [IncomingMessage];
  return res;
}

describe("S137 a long clone", () => {
  const stranger = { key: "address 192.0.2.1", isAnonymous: true };
  const HOUR = 3_600_000;

  test("waits for its turn if the caller is anonymous", async () => {
    let turns = 0;
    const res = await clone(stranger, () => (++turns > 10 ? HOUR : 0));
    let bytes = 0;
    res.on("error", () => undefined).on("data", (chunk: Buffer) => (bytes += chunk.length));
    // Ten pieces of at most 64 KiB follow the first piece, and the next one waits.
    await expect.poll(() => turns, { timeout: 10_000 }).toBe(11);
    await expect.poll(() => bytes).toBeGreaterThan(128 * 1024);
    expect(bytes).toBeLessThan(2 * MIB);
    res.destroy();
    await expect.poll(() => fetches.counts.taken, { timeout: 10_000 }).toBe(0);
  });

  test.each([
    ["arrives completely after its turns", stranger, 1],
    ["does not wait for turns if an account requested it", { key: "account ada", isAnonymous: false }, HOUR],
  ])("%s", async (_, party, waitMs) => {
    let turns = 0;
    const res = await clone(party, () => (++turns % 20 === 0 ? waitMs : 0));
    const all = Buffer.concat(await res.toArray());
    const pack = all.subarray(all.indexOf("PACK"));
    expect(pack.length).toBeGreaterThan(32 * MIB);
    expect(hash("sha1", pack.subarray(0, -20), "buffer")).toEqual(pack.subarray(-20));
    await expect.poll(() => fetches.counts.taken, { timeout: 10_000 }).toBe(0);
  });
});

describe("S137 fetches above the memory limit are ended if they come from", () => {
  const grace = { key: "account grace", isAnonymous: false };

  test.each([
    ["one account", () => ({ key: "account ada", isAnonymous: false })],
    ["many addresses", (at: number) => ({ key: `address 192.0.2.${at}`, isAnonymous: true })],
  ])("%s", async (_, partyOf) => {
    const memory = new FetchMemory(MAX_BYTES);
    const honest = await hold(grace, memory);
    const held: Held[] = [];
    while (held.length < FETCHES_MAX && !held.some(({ isEnded }) => isEnded)) held.push(await hold(partyOf(held.length), memory));
    await expect.poll(() => held.filter(({ isEnded }) => isEnded)).not.toEqual([]);
    expect(held.length).toBeGreaterThan(1);
    expect(honest.isEnded).toBe(false);
    honest.res.removeAllListeners("data").resume();
    await once(honest.res, "end");
    expect(honest.res.complete).toBe(true);
    for (const { res } of held) res.destroy();
    await expect.poll(() => fetches.counts.taken, { timeout: 10_000 }).toBe(0);
  });
});
