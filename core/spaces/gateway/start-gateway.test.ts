import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../ids.ts";
import { GATEWAY_KEY_HEADER, gatewayKey } from "./gateway-key.ts";
import { startGateway } from "./start-gateway.ts";

// An error event that nobody listens to ends the process: Vitest then fails the file.
it("S138 a WebSocket that leaves while its Space is not there does not end the worker", async () => {
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
