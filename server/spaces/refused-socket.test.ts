import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test, vi } from "vitest";
import { serveAppSocket } from "./serve-app-socket.ts";

test("S137 a refused WebSocket is closed, even if its client keeps its own end open", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  server.on("upgrade", (req, socket, head) => void serveAppSocket(req, socket, head));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const closed = once(client, "close");
  client.on("error", () => undefined);
  client.write("GET /spaces/a/b/app/../x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  const [answer] = await once(client, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  client.write("x".repeat(100_000));
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  client.destroy();
  await closed;
  server.close();
});
