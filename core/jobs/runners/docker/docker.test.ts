import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { provideSettings } from "../../../env.ts";
import { newId } from "../../../ids.ts";
import { startRegistry } from "../../testing/container-registry.ts";
import { busyboxFiles, nodeFiles, startPodman } from "../../testing/podman.ts";
import { MEBIBYTE, runTask, smallLimits, startTask } from "../../testing/run-task.ts";
import { docker } from "./docker.ts";
import { framesOf } from "./engine.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const soon = { timeout: 60_000 };

let registry: Awaited<ReturnType<typeof startRegistry>>;
let engine: Awaited<ReturnType<typeof startPodman>>;
let files: string;

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "kh-images-"));
  registry = await startRegistry();
  engine = await startPodman(registry.host);
  registry.push("library/debian", "12", busyboxFiles(join(files, "busybox")));
  registry.push("library/node", "24-slim", nodeFiles(join(files, "node")));
  provideSettings({ JOBS_DOCKER_SOCKET: engine.socketPath });
});
afterAll(() => {
  engine.stop();
  registry.stop();
  rmSync(files, { recursive: true, force: true });
});
beforeEach(() => {
  registry.asked.length = 0;
});

const image = "debian:12";
const sh = (script: string) => ["sh", "-c", script];
const script = (text: string) => ["node", "--input-type=module", "--eval", text];
const children = (name: string): number =>
  execFileSync("ps", ["-o", "comm=", "--ppid", String(process.pid)], { encoding: "utf8" })
    .split("\n")
    .filter((each) => each === name).length;
const nothingIsLeft = async () => expect([await engine.containers(), await engine.volumes()]).toEqual([[], []]);

describe("a job in a container", () => {
  it("S132 has no network and no privileges, can write only to a little memory, and leaves nothing behind", async () => {
    const look = `echo "$GREETING"; echo oh >&2; id -u; ls /sys/class/net; cat /proc/self/oom_score_adj; cat /proc/self/status
      for path in / /etc /run /dev /proc/sys/kernel; do touch $path/mine 2>/dev/null && echo "wrote to $path"; done; exit 4`;
    const ended = await runTask(docker, sh(look), { image, environment: { GREETING: "a=b c" } });
    expect(ended).toMatchObject({ exit: { kind: "exited", code: 4 }, stderr: "oh\n" });
    const lines = ended.stdout.split("\n");
    expect(lines.slice(0, 4)).toEqual(["a=b c", "1000", "lo", "1000"]);
    expect(lines).toEqual(expect.arrayContaining(["NoNewPrivs:\t1", "Seccomp:\t2", "CapBnd:\t0000000000000000"]));
    expect(ended.stdout).not.toContain("wrote to");
    await nothingIsLeft();
  });

  it("S132 is limited in memory, processes and writes, wherever it can write", async () => {
    const fill = `for path in /tmp /workspace /var/tmp /dev/shm; do dd if=/dev/zero of=$path/full bs=1M count=200 2>/dev/null; wc -c <$path/full; done`;
    const { stdout } = await runTask(docker, sh(fill), { image, limits: { ...smallLimits, memoryBytes: 512 * MEBIBYTE } });
    const half = smallLimits.scratchBytes / 2;
    expect(stdout.split("\n").map(Number)).toEqual([half, half, MEBIBYTE, 64 * MEBIBYTE, 0]);
    const greedy = await runTask(docker, sh("exec dd if=/dev/zero of=/dev/null bs=1024M count=1"), { image });
    expect([{ kind: "out_of_memory" }, { kind: "exited", code: 137 }]).toContainEqual(greedy.exit);
    const forks = await runTask(docker, sh("for i in $(seq 200); do sleep 5 & done; ls /proc"), { image });
    expect(forks.stderr).toMatch(/fork/);
    await nothingIsLeft();
  });

  it("S132 cannot exceed its memory with empty files", async () => {
    const names = sh("cd /tmp; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); : >$i || exit 9; done");
    const ended = await runTask(docker, names, { image, limits: { ...smallLimits, memoryBytes: 24 * MEBIBYTE } });
    expect(ended.exit).not.toEqual({ kind: "exited", code: 0 });
    await nothingIsLeft();
  });

  it("S133 finds its files and its payload, and can change neither", async () => {
    const directory = mkdtempSync(join(tmpdir(), "keyhook-files-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, "app.txt"), "print(1)");
    const payload = "x".repeat(300_000);
    const look = "cat app.txt; wc -c <$WEBHOOK_PAYLOAD_FILE; touch app.txt $WEBHOOK_PAYLOAD_FILE";
    const ended = await runTask(docker, sh(look), { image, filesDirectory: directory, payload });
    expect(ended).toMatchObject({ exit: { kind: "exited" }, stdout: "print(1)300000\n", notes: [] });
    expect(ended.stderr.match(/Read-only file system/g)).toHaveLength(2);
    await nothingIsLeft();
  });

  it("is ended with SIGTERM, then with SIGKILL", async () => {
    const polite = await startTask(docker, sh('trap "echo bye; exit 7" TERM; echo go; while :; do sleep 0.05; done'), { image });
    const deaf = await startTask(docker, sh('trap "" TERM; echo go; while :; do sleep 0.05; done'), { image });
    await vi.waitFor(() => expect([polite.said.stdout, deaf.said.stdout]).toEqual(["go\n", "go\n"]), soon);
    polite.end();
    deaf.end();
    expect(await polite.ended).toMatchObject({ exit: { code: 7 }, stdout: "go\nbye\n" });
    expect(await deaf.ended).toMatchObject({ exit: { code: 137 } });
    await nothingIsLeft();
  });

  it("S123 leftovers of a killed worker are removed, for one task or for all tasks that no worker holds", async () => {
    const [lost, held, taken] = [newId(), newId(), newId()];
    const started: Awaited<ReturnType<typeof startTask>>[] = [];
    for (const id of [lost, held, taken]) {
      started.push(await startTask(docker, sh("echo go; sleep 60"), { image, id, payload: "{}" }));
    }
    await vi.waitFor(() => expect(started.map(({ said }) => said.stdout)).toEqual(["go\n", "go\n", "go\n"]), soon);
    await docker.endLeftovers?.(taken);
    expect(await engine.containers()).toHaveLength(2);
    await docker.sweep?.(async (ids) => new Set(ids.filter((id) => id === held)));
    expect(await engine.volumes()).toEqual([expect.stringContaining(held)]);
    expect(await engine.containers()).toHaveLength(1);
    for (const { kill } of started) kill();
    for (const { ended } of started) await ended;
    await nothingIsLeft();
  });

  it("fails if its program is missing", async () => {
    expect((await runTask(docker, ["nowhere"], { image })).exit).not.toMatchObject({ code: 0 });
  });

  it("does not start if its files cannot be read", async () => {
    const ended = await runTask(docker, sh("echo started"), { image, filesDirectory: join(files, "nowhere") });
    expect(ended).toMatchObject({ exit: { kind: "failed" }, stdout: "" });
    await nothingIsLeft();
  });

  it("leaves no process behind if the engine rejects its files", async () => {
    const refuses = createHttpServer((request, response) => {
      const isList = request.method === "GET" && /\/(json|volumes)\?/.test(request.url ?? "");
      if (request.method === "PUT") response.writeHead(507);
      response.end(isList ? (request.url?.includes("volumes") ? "{}" : "[]") : '{"Id":"made","Message":"no room"}');
    });
    const socketPath = join(files, "refuses.sock");
    await new Promise<void>((listening) => refuses.listen(socketPath, listening));
    provideSettings({ JOBS_DOCKER_SOCKET: socketPath });
    onTestFinished(() => {
      refuses.close();
      provideSettings({ JOBS_DOCKER_SOCKET: engine.socketPath });
    });
    const filesDirectory = mkdtempSync(join(files, "space-"));
    writeFileSync(join(filesDirectory, "large"), Buffer.alloc(8 * MEBIBYTE));
    expect((await runTask(docker, [], { filesDirectory })).exit).toMatchObject({ kind: "failed" });
    await expect.poll(() => children("tar"), soon).toBe(0);
  });
});

describe("connections out of a container", () => {
  it("S132 with network access reach only what the service's own requests may reach", async () => {
    const site = createHttpServer((_, response) => response.end("from outside\n"));
    await new Promise<void>((listening) => site.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void site.close());
    const { port } = site.address() as AddressInfo;
    provideSettings({ ORIGIN: `http://127.0.0.1:${port}` });
    onTestFinished(() => void provideSettings({ ORIGIN: "http://localhost:3000" }));
    const ask = `ls /sys/class/net; unset http_proxy; wget -q -T 3 -O - http://127.0.0.1:${port}/ && echo reached`;
    const through = `
      import { request } from "node:http";
      const [host, port] = process.env.HTTP_PROXY.slice("http://".length).split(":");
      const get = (path) => new Promise((done) => {
        const read = async (answer) => done([path, answer.statusCode, (await answer.toArray()).join("").trim()]);
        request({ host, port, path }, read).on("error", (error) => done([path, error.code])).end();
      });
      for (const to of ["http://127.0.0.1:${port}/", "http://127.0.0.1:22/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[::1]:22/"]) console.log(JSON.stringify(await get(to)));`;
    const [plain, proxied] = await Promise.all([
      runTask(docker, sh(ask), { image, network: true }),
      runTask(docker, script(through), {
        image: "node:24-slim",
        network: true,
        limits: { ...smallLimits, memoryBytes: 512 * MEBIBYTE },
      }),
    ]);
    expect(plain.stdout).toBe("lo\n");
    const answers = proxied.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers[0]).toEqual([`http://127.0.0.1:${port}/`, 200, "from outside"]);
    for (const [, status, text] of answers.slice(1))
      expect([status, text]).toEqual([403, expect.stringContaining("Jobs cannot reach")]);
    expect(answers).toHaveLength(5);
    await nothingIsLeft();
  });

  // An exception in the worker would end it, and Vitest would fail the file.
  it("S132 a job that resets its connections to the proxy does not end other jobs' connections", async () => {
    const reset = `import { connect } from "node:net";
      const once = () => new Promise((done) => {
        const socket = connect(3128, "127.0.0.1", () => socket.resetAndDestroy()).on("error", () => {}).on("close", done);
      });
      for (let round = 0; round < 100; round++) await Promise.all(Array.from({ length: 50 }, once));
      console.log("alive");`;
    const limits = { ...smallLimits, memoryBytes: 512 * MEBIBYTE };
    const ended = await runTask(docker, script(reset), { image: "node:24-slim", network: true, limits });
    expect(ended).toMatchObject({ exit: { kind: "exited", code: 0 }, stdout: "alive\n" });
    await nothingIsLeft();
  });

  it("S132 a Space reaches only its socket on this machine, and cannot write beside it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "kh-door-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    chmodSync(directory, 0o755);
    writeFileSync(join(directory, "hello.mjs"), "console.log('hello')");
    const heard: string[] = [];
    const door = createServer({ allowHalfOpen: true }, (socket) => {
      socket.pipe(createHash("sha256")).once("data", (digest: Buffer) => {
        heard.push(digest.toString("hex"));
        socket.end(`heard ${digest.toString("hex")}`);
      });
    });
    await new Promise<void>((listening) => door.listen(join(directory, "door.sock"), listening));
    onTestFinished(() => void door.close());
    const dial = `
      import { connect } from "node:net"; import { writeFileSync } from "node:fs"; import { networkInterfaces } from "node:os";
      await import("/run/keyhook/hello.mjs");
      for (const path of ["/run/keyhook/mine", "/run/keyhook/door.sock.2", "/run/mine"]) try { writeFileSync(path, "x".repeat(1e6)); console.log("wrote", path); } catch (error) { console.log(error.code); }
      const socket = connect({ path: "/run/keyhook/door.sock", allowHalfOpen: true });
      socket.end("0123456789".repeat(300_000));
      let text = ""; for await (const bytes of socket) text += bytes;
      console.log(text, Object.keys(networkInterfaces()).join());`;
    const ended = await runTask(docker, script(dial), {
      socketDirectory: directory,
      limits: { ...smallLimits, memoryBytes: 512 * MEBIBYTE },
    });
    const sum = createHash("sha256").update("0123456789".repeat(300_000)).digest("hex");
    expect(ended.stdout).toBe(`hello\nEROFS\nEROFS\nEACCES\nheard ${sum} lo\n`);
    expect(heard).toEqual([sum]);
    await nothingIsLeft();
  });
});

it("frames of output are read wherever they are cut", async () => {
  const frame = (kind: number, text: string) => {
    const header = Buffer.alloc(8);
    header.writeUInt8(kind, 0);
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const all = Buffer.concat([frame(1, "one "), frame(2, "oh"), frame(1, ""), frame(1, "two")]);
  for (let size = 1; size <= all.length; size++) {
    const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.subarray(i * size, (i + 1) * size));
    const said = { stdout: "", stderr: "" };
    for await (const { stream, bytes } of framesOf(iterate(pieces))) said[stream] += bytes;
    expect(said).toEqual({ stdout: "one two", stderr: "oh" });
  }
});

async function* iterate(pieces: Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}
