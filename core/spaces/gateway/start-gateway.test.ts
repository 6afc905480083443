import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { newId } from "../../ids.ts";
import { GATEWAY_KEY_HEADER, gatewayKey, PARTY_HEADER, startGateway } from "./start-gateway.ts";

// An error event without a listener would end the process, and Vitest would fail the file.
it("S138 a WebSocket that disconnects while its Space is not running does not end the worker", async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.stop());
  const { hostname, port } = new URL(gateway.address);
  const leave = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const lines = ["GET / HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: websocket"];
        socket.write([...lines, `${GATEWAY_KEY_HEADER}: ${gatewayKey(newId())}`, "", ""].join("\r\n"));
        setImmediate(() => socket.resetAndDestroy());
      });
      socket.on("error", () => undefined).once("close", () => resolve());
    });
  for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 10 }, leave));
  const answer = await fetch(gateway.address, { headers: { [GATEWAY_KEY_HEADER]: gatewayKey(newId()) } });
  expect(answer.status).toBe(503);
});

it("a Space counts as used while it answers a caller, and over a WebSocket when something is sent", async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.stop());
  const app = createServer((_, res) => void res.writeHead(200).write("one piece, and no more"));
  app.on("upgrade", (_, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    socket.on("error", () => undefined).pipe(socket);
  });
  await new Promise<void>((listening) => app.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void app.close().closeAllConnections());
  const repoId = newId();
  const appPort = (app.address() as AddressInfo).port;
  gateway.add(repoId, async () => connect(appPort, "127.0.0.1"));
  const { hostname, port } = new URL(gateway.address);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const heard: string[] = [];
  socket.on("data", (piece) => heard.push(String(piece)));
  const lines = ["GET / HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: websocket"];
  socket.write([...lines, `${GATEWAY_KEY_HEADER}: ${gatewayKey(repoId)}`, `${PARTY_HEADER}: one`, "", ""].join("\r\n"));
  await vi.waitFor(() => expect(heard.join("")).toContain("101 Switching"));
  const opened = Date.now();
  await delay(20);
  const lastBy = (party: string) => gateway.usesOf(repoId)?.lastBy.get(party);
  expect(lastBy("one")).toBeLessThanOrEqual(opened);
  expect(gateway.idleSince(repoId)).toBeUndefined();
  socket.write("hello");
  await vi.waitFor(() => expect(heard.join("")).toContain("hello"));
  expect(lastBy("one")).toBeGreaterThan(opened);
  const headers = { [GATEWAY_KEY_HEADER]: gatewayKey(repoId), [PARTY_HEADER]: "other" };
  const answer = await fetch(gateway.address, { headers });
  const before = Date.now();
  expect(lastBy("other")).toBeGreaterThanOrEqual(before);
  await answer.body?.cancel();
  await vi.waitFor(async () => {
    const now = lastBy("other");
    await delay(5);
    expect(lastBy("other")).toBe(now);
  });
});
