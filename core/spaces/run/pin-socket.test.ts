import { mkdtemp, rm, symlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { pinSocket } from "./pin-socket.ts";

let folder: string;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pin-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(folder, { recursive: true });
});

async function listen(name: string): Promise<string> {
  const path = join(folder, name);
  const server = createServer((socket) => socket.end(name));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

function readFrom(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    connect(path)
      .on("data", (bytes) => {
        text += bytes;
      })
      .once("end", () => resolve(text))
      .once("error", reject);
  });
}

it("S132 a link in a sandbox's folder leads nowhere, before a socket is pinned and after", async () => {
  const others = await listen("others.sock");
  const path = join(folder, "app.sock");
  expect(await pinSocket(path)).toBeUndefined();
  await symlink(others, path);
  expect(await pinSocket(path)).toBeUndefined();
  await rm(path);

  await listen("app.sock");
  const pinned = await pinSocket(path);
  await rm(path);
  await symlink(others, path);
  expect(await readFrom(path)).toBe("others.sock");
  expect(await readFrom(pinned?.path ?? "")).toBe("app.sock");
  await pinned?.release();
});
