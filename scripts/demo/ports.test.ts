import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { findBusyPort } from "./ports.ts";

test.each(["127.0.0.1", "::"])("a port on which a program listens at %s counts as taken", async (host) => {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await findBusyPort([port])).toBe(port);
  server.close();
  await once(server, "close");
  expect(await findBusyPort([port])).toBeUndefined();
});

test("an invalid port counts as taken", async () => {
  expect(await findBusyPort([65_536])).toBe(65_536);
});
