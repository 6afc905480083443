import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { provideSettings } from "../../env.ts";
import { LONG_HOST } from "../../http/testing/long-host.ts";
import { log } from "../../log.ts";
import { openTunnel } from "../../outbound/open-tunnel.ts";
import { type EgressProxy, openEgressProxy } from "./egress-proxy.ts";

let folder: string;
let proxy: EgressProxy;
let site: Server;
let answer: string;
let asked: Socket[];
let heard: string[];
let notes: string[];

beforeEach(async () => {
  asked = [];
  heard = [];
  notes = [];
  site = createServer((socket) => {
    asked.push(socket);
    socket
      .on("error", () => undefined)
      .on("data", (bytes) => {
        heard.push(String(bytes));
        socket.write(answer);
      });
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  provideSettings({ ORIGIN: addressOf((site.address() as AddressInfo).port) });
  folder = await mkdtemp(join(tmpdir(), "way-out-"));
  proxy = await openEgressProxy({ onNote: (sentence) => notes.push(sentence) }, join(folder, "out.sock"));
});
afterEach(async () => {
  proxy.close();
  for (const socket of asked) socket.destroy();
  site.close();
  await rm(folder, { recursive: true });
});

const addressOf = (port: number) => `http://127.0.0.1:${port}`;
const siteAddress = () => addressOf((site.address() as AddressInfo).port);
const dial = () => connect(join(folder, "out.sock")).on("error", () => undefined);
const ask = () => request({ socketPath: join(folder, "out.sock"), path: `${siteAddress()}/`, agent: false });

it("S132 a response that cannot be passed on ends only its request", async () => {
  const outcome = () =>
    new Promise((resolve) => {
      ask()
        .once("response", ({ statusCode }) => resolve(statusCode))
        .once("error", () => resolve("broken off"))
        .end();
    });
  answer = "HTTP/1.1 099 Early\r\ncontent-length: 0\r\n\r\n";
  expect(await outcome()).toBe("broken off");
  answer = "HTTP/1.1 204 Well\r\n\r\n";
  expect(await outcome()).toBe(204);
  answer = "HTTP/1.1 103 Early\r\n\r\n".repeat(100);
  expect(await outcome()).toBe("broken off");
});

const FLOOD = 8 * 1024 * 1024;

it.each([
  ["empty lines", "", "\r\n"],
  ["a header's spaces", "HTTP/1.1 204 Well\r\nX:", " "],
])("S132 a site that keeps sending %s is cut off", async (_, head, skipped) => {
  answer = head + skipped.repeat(FLOOD);
  const out = ask();
  await expect(once(out.end(), "response")).rejects.toMatchObject({ code: "ECONNRESET" });
  await vi.waitFor(() => expect(asked.map(({ destroyed }) => destroyed)).toEqual([true]));
});

it.each([
  ["empty lines", () => "", "\r\n"],
  ["a header's spaces", () => `GET ${siteAddress()}/ HTTP/1.1\r\nX:`, " "],
  [
    "the zeros of a chunk's size",
    () => `POST ${siteAddress()}/ HTTP/1.1\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n`,
    "0",
  ],
])("S132 a job that keeps sending %s is cut off", async (_, head, skipped) => {
  answer = "";
  const socket = dial();
  socket.write(head() + skipped.repeat(FLOOD));
  await new Promise((closed) => socket.once("close", closed));
});

it.each(["CONNECT", "GET"])("S132 data that a job gets by %s passes in turns, which leave time for others", async (method) => {
  const body = "x".repeat(2_000_000);
  answer = method === "GET" ? `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}` : body;
  const slow = await openEgressProxy({ onNote: () => undefined }, join(folder, "slow.sock"), 2_000);
  onTestFinished(() => slow.close());
  const socket = connect(join(folder, "slow.sock"));
  const { host } = new URL(siteAddress());
  socket.write(`${method} ${method === "GET" ? `${siteAddress()}/` : host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const begin = performance.now();
  let length = 0;
  for await (const bytes of socket) {
    if (length === 0 && method === "CONNECT") socket.write("ask");
    length += bytes.length;
    if (length > body.length) break;
  }
  expect(performance.now() - begin).toBeGreaterThan(900);
});

it("S132 no outgoing connection stays open for a command that has ended", async () => {
  answer = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nfirst";
  const out = ask();
  out.on("error", () => undefined).end();
  await new Promise((resolve) => out.once("response", resolve));
  out.destroy();
  await vi.waitFor(() => expect(asked.map(({ destroyed, readableEnded }) => destroyed || readableEnded)).toEqual([true]));
});

it("S132 a header that Node refuses to send does not end the worker", async () => {
  answer = "HTTP/1.1 204 Well\r\n\r\n";
  const sent = ["Trailer: X", "Transfer-Encoding: chunked\r\nTrailer: X", "Connection: close, X-Hop\r\nX-Hop: 1", "TE: trailers"];
  for (const header of sent) {
    const socket = connect(join(folder, "out.sock"));
    socket.write(
      `GET ${siteAddress()}/ HTTP/1.1\r\nHost: site.example\r\n${header}\r\n\r\n${header.startsWith("Tran") ? "0\r\n\r\n" : ""}`,
    );
    const [first] = await once(socket, "data");
    expect(String(first), header).toMatch(/^HTTP\/1\.1 204 /);
    socket.destroy();
  }
  await vi.waitFor(() => expect(heard.length).toBe(sent.length));
  expect(heard.join("")).not.toMatch(/^(trailer|te|x-hop|x-keyhook)/im);
});

it("S132 S137 pipelined requests of one connection open at most one outbound connection", async () => {
  answer = "";
  const send = async (requests: number) => {
    const socket = connect(join(folder, "out.sock"));
    socket.on("error", () => undefined).resume();
    socket.write(`GET ${siteAddress()}/ HTTP/1.1\r\nHost: site.example\r\n\r\n`.repeat(requests));
    await new Promise((resolve) => socket.once("close", resolve));
  };
  await send(1_000);
  expect(asked.length).toBeLessThanOrEqual(1);
  await send(1);
  expect(asked.length).toBeLessThanOrEqual(1);
  answer = "HTTP/1.1 204 Well\r\n\r\n";
  const isServed = () =>
    new Promise((resolve) => {
      ask()
        .once("response", resolve)
        .once("error", () => resolve(undefined))
        .end();
    });
  await vi.waitFor(async () => expect(await isServed()).toMatchObject({ statusCode: 204 }));
});

async function startDeafPort() {
  const listen = `const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    require("node:fs").writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const process_ = spawn(process.execPath, ["-e", listen]);
  const port = Number(await once(process_.stdout, "data"));
  const opening = async () => {
    const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    const lines = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
    return lines.filter(([, , remote, state]) => remote?.endsWith(end) && state === "02").length;
  };
  const first = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  onTestFinished(() => {
    for (const socket of first) socket.destroy();
    process_.kill();
  });
  await expect.poll(opening).toBeGreaterThan(0);
  const before = await opening();
  provideSettings({ ORIGIN: addressOf(port) });
  return { host: "127.0.0.1", port, opening: async () => (await opening()) - before };
}

it.runIf(process.platform === "linux")(
  "S132 opening an outbound connection stops when its command has ended",
  async () => {
    const { host, port, opening } = await startDeafPort();
    const openEight = async () => {
      const asking = Array.from({ length: 8 }, dial);
      for (const socket of asking) socket.write(`GET ${addressOf(port)}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await expect.poll(opening).toBe(8);
      return asking;
    };
    const expectEnded = async () => {
      let isOver: unknown = false;
      const done = new AbortController();
      const later = openTunnel({ host, port }, { allows: () => true, signal: done.signal }).catch((error: unknown) => {
        isOver = error;
      });
      const others = async () => isOver || (await opening()) - 1;
      await expect.poll(others).toBe(8);
      return async () => {
        await expect.poll(others).toBe(0);
        done.abort();
        await later;
      };
    };
    const asking = await openEight();
    let ended = await expectEnded();
    for (const socket of asking) socket.destroy();
    await ended();
    await openEight();
    ended = await expectEnded();
    proxy.close();
    await ended();
  },
  60_000,
);

it.runIf(process.platform === "linux")("S132 outbound connections that are being opened have a limit of their own", async () => {
  const { port, opening } = await startDeafPort();
  for (const socket of Array.from({ length: 64 }, dial)) socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await expect.poll(opening).toBe(64);
  const outcomeOf = async (request: string) => {
    const [near, far] = duplexPair();
    proxy.take(far);
    near.write(`${request} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return String((await once(near, "data"))[0]);
  };
  expect(await outcomeOf(`CONNECT 127.0.0.1:${port}`)).toMatch(/^HTTP\/1\.1 503 /);
  expect(await outcomeOf(`GET ${addressOf(port)}/`)).toMatch(/^HTTP\/1\.1 503 /);
});

it("S132 a job that opens one connection after another must wait between connections", async () => {
  const logged = vi.spyOn(log(), "info");
  onTestFinished(() => logged.mockRestore());
  const FOR_MS = 1_000;
  const begin = performance.now();
  let served = 0;
  const askInVain = async () => {
    while (performance.now() - begin < FOR_MS) {
      const socket = dial();
      socket.write("CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: a\r\n\r\n");
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 403 /);
      socket.destroy();
      served++;
    }
  };
  await Promise.all(Array.from({ length: 32 }, askInVain));
  expect(served).toBeGreaterThan(0);
  expect(served).toBeLessThanOrEqual(20 * (1 + (performance.now() - begin) / 95));
  expect(logged).not.toHaveBeenCalled();
});

it.each(["GET http://HOST/", "CONNECT HOST:443"])("S132 a long host name is refused before it is parsed: %s", async (request) => {
  const parse = vi.spyOn(globalThis, "URL");
  onTestFinished(() => parse.mockRestore());
  const socket = dial();
  socket.write(`${request.replace("HOST", encodeURIComponent(LONG_HOST.slice(0, 1_700)))} HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(String((await once(socket, "data"))[0])).toContain("the host name is too long");
  expect(Math.max(0, ...parse.mock.calls.map(([url]) => String(url).length))).toBeLessThan(1_000);
});

it("S132 a job that repeatedly opens more connections than allowed is cut off, and its log says so", async () => {
  const outcomeOf = async () => {
    const socket = dial();
    onTestFinished(() => void socket.destroy());
    return await new Promise<string>((resolve) => {
      socket.once("error", ({ message }) => resolve(message)).once("close", () => resolve("closed"));
      socket.write("CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: a\r\n");
    });
  };
  for (let place = 0; place < 64; place++) void outcomeOf();
  expect(await Promise.all(Array.from({ length: 100 }, outcomeOf))).toEqual(
    Array(100).fill(expect.stringMatching(/closed|reset|EPIPE/i)),
  );
  expect(notes).toEqual([]);
  for (let more = 0; more < 64 + 5_000 && notes.length === 0; more++) proxy.take(duplexPair()[0]);
  expect(notes).toEqual([expect.stringContaining("disconnected")]);
  await proxy.cutOff;
  expect(await outcomeOf()).toMatch(/ENOENT|ECONNREFUSED/);
});
