import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Passed, relay } from "./relay.ts";

it("S138 an app that answers 101 to a plain request is done with at once", async () => {
  const app = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    );
  }).listen(0, "127.0.0.1");
  await once(app, "listening");
  let passed: Passed | undefined;
  const front = http
    .createServer(async (req, res) => {
      const upstream = { host: "127.0.0.1", port: (app.address() as AddressInfo).port };
      passed = await relay(req, res, { upstream, path: "/", headers: {}, answer: (_, headers) => ({ ...headers }) });
      res.writeHead(502).end();
    })
    .listen(0, "127.0.0.1");
  await once(front, "listening");
  onTestFinished(() => {
    app.close();
    front.close();
    front.closeAllConnections();
  });
  const answer = await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}/`, {
    signal: AbortSignal.timeout(3_000),
  });
  expect([answer.status, passed]).toEqual([502, "broken"]);
});
