import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openWayOut, type WayOut } from "./way-out.ts";

let folder: string;
let wayOut: WayOut;
let site: Server;
let answer: string;
let asked: Socket[];
let heard: string[];

// Which addresses are reached is for core/outbound's tests; here every name leads to one site.
vi.mock("../../outbound/open-tunnel.ts", () => ({
  openTunnel: async () => {
    const socket = connect((site.address() as AddressInfo).port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    return socket;
  },
}));

beforeEach(async () => {
  asked = [];
  heard = [];
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
  folder = await mkdtemp(join(tmpdir(), "way-out-"));
  wayOut = await openWayOut(join(folder, "out.sock"));
});
afterEach(async () => {
  wayOut.close();
  for (const socket of asked) socket.destroy();
  site.close();
  await rm(folder, { recursive: true });
});

const ask = () => request({ socketPath: join(folder, "out.sock"), path: "http://site.example/", agent: false });

it("S132 an answer that cannot be passed on ends the request, and not the worker", async () => {
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
  // "Not yet", again and again, is no answer.
  answer = "HTTP/1.1 103 Early\r\n\r\n".repeat(100);
  expect(await outcome()).toBe("broken off");
});

it("S132 nothing stays open outside for a command that has gone", async () => {
  answer = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nfirst";
  const out = ask();
  out.on("error", () => undefined).end();
  await new Promise((resolve) => out.once("response", resolve));
  out.destroy();
  await vi.waitFor(() => expect(asked.map(({ destroyed, readableEnded }) => destroyed || readableEnded)).toEqual([true]));
});

it("S132 a header that Node would not send again does not end the worker", async () => {
  answer = "HTTP/1.1 204 Well\r\n\r\n";
  const sent = ["Trailer: X", "Transfer-Encoding: chunked\r\nTrailer: X", "Connection: close, X-Hop\r\nX-Hop: 1", "TE: trailers"];
  for (const header of sent) {
    const socket = connect(join(folder, "out.sock"));
    socket.write(
      `GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\n${header}\r\n\r\n${header.startsWith("Tran") ? "0\r\n\r\n" : ""}`,
    );
    const [first] = await once(socket, "data");
    expect(String(first), header).toMatch(/^HTTP\/1\.1 204 /);
    socket.destroy();
  }
  await vi.waitFor(() => expect(heard.length).toBe(sent.length));
  expect(heard.join("")).not.toMatch(/^(trailer|te|x-hop|x-keyhook)/im);
});

it("S132 S137 requests that come together through one connection open one outside, end it, and are not read for a while", async () => {
  answer = "";
  const send = async (requests: number) => {
    const socket = connect(join(folder, "out.sock"));
    socket.on("error", () => undefined).resume();
    socket.write("GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n".repeat(requests));
    await new Promise((resolve) => socket.once("close", resolve));
  };
  await send(1_000);
  expect(asked.length).toBeLessThanOrEqual(1);
  // The next connection is closed at once, and not when its idle time is over.
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
