import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../ids.ts";
import { bubblewrap } from "../../jobs/runners/bubblewrap/bubblewrap.ts";
import { MEBIBYTE, smallLimits, startTask } from "../../jobs/testing/run-task.ts";
import { GATEWAY_KEY_HEADER, gatewayKey, startGateway } from "../gateway/start-gateway.ts";
import { openAppConnector } from "./app-connector.ts";

const PORT = 3000;

async function serve(app: string, spareMaxPerSecond?: number) {
  const parent = await mkdtemp(join(tmpdir(), "keyhook-door-"));
  const door = await openAppConnector(parent, spareMaxPerSecond);
  const gateway = await startGateway();
  const task = await startTask(bubblewrap, door.through(PORT, ["node", "-e", app]), { socketDirectory: door.directory });
  onTestFinished(async () => {
    task.kill();
    await task.ended;
    door.close();
    await gateway.stop();
    await rm(parent, { recursive: true });
  });
  await Promise.race([
    door.opened,
    task.ended.then(({ stderr }) => {
      throw new Error(stderr);
    }),
  ]);
  const repoId = newId();
  gateway.add(repoId, door.connect);
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.address}${path}`, { ...init, headers: { [GATEWAY_KEY_HEADER]: gatewayKey(repoId) } });
  return { ask, door, parent, task };
}

const echo = `require("node:http").createServer((req, res) => req.pipe(res)).listen(${PORT}, "127.0.0.1")`;

it("requests reach the app, many at once and with large bodies, and each gets its own answer", async () => {
  const { ask } = await serve(echo);
  const bodies = Array.from({ length: 60 }, (_, i) => `${i}`.repeat(20_000));
  const answers = await Promise.all(bodies.map(async (body) => (await ask("/", { method: "POST", body })).text()));
  expect(answers).toEqual(bodies);
});

it("an app that no longer listens refuses requests before anything is sent", async () => {
  const { ask, task } = await serve(`const server = require("node:http").createServer((_, res) => {
    res.end("last", () => { server.close(() => console.log("closed")); server.closeAllConnections(); });
  }).listen(${PORT}, "127.0.0.1"); setInterval(() => {}, 1000);`);
  expect(await (await ask("/")).text()).toBe("last");
  await expect.poll(() => task.said.stdout).toContain("closed");
  expect((await ask("/")).status).toBe(502);
});

it("a Space that writes wherever it can stays within its scratch limit", async () => {
  const fill = `
    const fs = require("node:fs");
    const places = fs.readFileSync("/proc/mounts", "utf8").trim().split("\\n").map((line) => line.split(" "))
      .filter(([, path, , options]) => !path.startsWith("/proc") && options.split(",")[0] === "rw" && fs.statSync(path).isDirectory()).map(([, path]) => path);
    const block = Buffer.alloc(1 << 20, 1);
    let written = 0;
    const refused = {};
    for (const place of [...new Set([...places, "/run/keyhook", "/run", "/tmp", "/dev/shm", "/workspace", "/dev", "/"])]) {
      try { for (let i = 0; i < 64; i++) { fs.writeFileSync(place + "/fill" + i, block); written += block.length; } } catch (error) { refused[place] = error.code; }
    }
    console.log(JSON.stringify({ written, refused, places }));
    ${echo};`;
  const { task, door, parent } = await serve(fill);
  await expect.poll(() => task.said.stdout, { timeout: 10_000 }).toContain("written");
  const { written, refused, places } = JSON.parse(task.said.stdout);
  expect(refused["/run/keyhook"]).toBe("EROFS");
  expect(places).not.toContain("/run/keyhook");
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThanOrEqual(smallLimits.scratchBytes);
  expect(smallLimits.scratchBytes).toBeLessThan(64 * MEBIBYTE);
  expect((await readdir(door.directory)).sort()).toEqual(["bridge.mjs", "door.sock"]);
  // Anyone who reaches the socket could pose as the app.
  expect((await stat(parent)).mode & 0o007).toBe(0);
});

it("a sandbox's connections beyond the number that a bridge needs are closed", async () => {
  const { ask, door } = await serve(echo);
  const extra = Array.from({ length: 100 }, () => connect(join(door.directory, "door.sock")).on("error", () => undefined));
  onTestFinished(() => {
    for (const socket of extra) socket.destroy();
  });
  await expect.poll(() => extra.filter(({ closed }) => closed).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(68);
  expect(await (await ask("/", { method: "POST", body: "still" })).text()).toBe("still");
});

it("S132 a sandbox that opens connections in a loop is cut off, unlike one that serves many requests", async () => {
  // On a busy machine, the event loop may have fewer turns a second than the usual limit, which would then never be reached.
  const { ask, door } = await serve(echo, 200);
  let isFlooded = false;
  void door.flooded.then(() => {
    isFlooded = true;
  });
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 60 }, async () => (await ask("/", { method: "POST", body: "1" })).text()));
  expect(isFlooded).toBe(false);
  const dial = () =>
    new Promise<string>((resolve) => {
      const socket = connect(join(door.directory, "door.sock"));
      socket.once("connect", () => resolve("connected")).once("error", ({ message }) => resolve(message));
      socket.once("connect", () => socket.destroy());
    });
  await expect
    .poll(() => Promise.all(Array.from({ length: 5 }, dial)), { timeout: 60_000, interval: 1 })
    .toEqual(Array(5).fill(expect.stringMatching(/ENOENT|ECONNREFUSED/)));
  expect(isFlooded).toBe(true);
}, 120_000);
