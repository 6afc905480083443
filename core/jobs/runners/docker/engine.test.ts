import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { provideSettings } from "../../../env.ts";
import { attachAll } from "./engine.ts";

test("an engine that ends while nobody reads its connection does not end the process", async () => {
  const socketPath = join(mkdtempSync(join(tmpdir(), "keyhook-engine-")), "engine.sock");
  const engine = createServer().on("upgrade", async (_, socket) => {
    socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    await delay(50);
    socket.destroy();
  });
  engine.listen(socketPath);
  await once(engine, "listening");
  provideSettings({ JOBS_DOCKER_SOCKET: socketPath });
  const socket = await attachAll("some");
  socket.write(Buffer.alloc(4_000_000));
  await delay(200);
  expect(socket.destroyed).toBe(true);
  engine.close();
});
