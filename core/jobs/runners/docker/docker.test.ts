import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { provideSettings } from "../../../env.ts";
import { newId } from "../../../ids.ts";
import { startEngine } from "../../testing/container-engine.ts";
import { runTask, smallLimits, startTask } from "../../testing/run-task.ts";
import { docker } from "./docker.ts";
import { framesOf } from "./frames.ts";

async function engine() {
  const started = await startEngine();
  onTestFinished(started.stop);
  provideSettings({ JOBS_DOCKER_SOCKET: started.socketPath });
  return started;
}

const sh = (script: string) => ["sh", "-c", script];
const filesIn = (tar: Buffer | undefined) => spawnSync("tar", ["-tf", "-"], { input: tar }).stdout.toString().split("\n");

describe("a job in a container", () => {
  it("S132 runs without the network, privileges, or anything to write but a little memory, and leaves nothing", async () => {
    const { made, containers, volumes } = await engine();
    const ended = await runTask(docker, sh('echo "$GREETING"; echo oh >&2; exit 4'), {
      image: "debian:12",
      environment: { GREETING: "a=b c" },
    });
    expect(ended).toMatchObject({ exit: { kind: "exited", code: 4 }, stdout: "a=b c\n", stderr: "oh\n" });
    expect(made[0]).toMatchObject({ Image: "debian:12", User: "1000:1000" });
    expect(made[0]?.HostConfig).toMatchObject({
      NetworkMode: "none",
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      ReadonlyRootfs: true,
      Privileged: false,
      PidsLimit: smallLimits.processes,
      Memory: smallLimits.memoryBytes,
      MemorySwap: smallLimits.memoryBytes,
      NanoCpus: 1e9,
      LogConfig: { Type: "none" },
      Tmpfs: { "/workspace": expect.stringContaining(`size=${smallLimits.scratchBytes / 2}`), "/tmp": expect.anything() },
    });
    expect(JSON.stringify(made[0]?.HostConfig)).not.toContain("docker.sock");
    expect([containers.size, volumes.size]).toEqual([0, 0]);
  });

  it("S133 finds its files and its payload in volumes that it cannot write, after its image was pulled", async () => {
    const files = mkdtempSync(join(tmpdir(), "keyhook-files-"));
    onTestFinished(() => rmSync(files, { recursive: true, force: true }));
    writeFileSync(join(files, "app.py"), "print(1)");
    const { made, containers, volumes } = await engine();
    const payload = "x".repeat(300_000);
    const ended = await runTask(docker, sh("echo $WEBHOOK_PAYLOAD_FILE"), {
      image: "python:3.12",
      filesDirectory: files,
      payload,
      network: true,
    });
    expect(ended).toMatchObject({ exit: { code: 0 }, stdout: "/run/webhook/payload.json\n", notes: ["Pulling python:3.12."] });
    const [filler, job] = made;
    expect(filesIn(filler?.archives["/workspace"])).toContain("./app.py");
    expect(filler?.archives["/run/webhook"]?.includes(payload)).toBe(true);
    expect(filler?.process).toBeUndefined();
    expect(job?.HostConfig.Mounts).toMatchObject([
      { Target: "/workspace", ReadOnly: true },
      { Target: "/run/webhook", ReadOnly: true },
    ]);
    expect(job?.HostConfig).toMatchObject({ NetworkMode: "bridge" });
    expect([containers.size, volumes.size]).toEqual([0, 0]);
  });

  it("is ended politely, then not; what a lost worker left is removed", async () => {
    const { containers } = await engine();
    const polite = await startTask(docker, sh('trap "echo bye; exit 7" TERM; echo go; while :; do sleep 0.05; done'), {
      image: "debian:12",
    });
    const deaf = await startTask(docker, sh('trap "" TERM; echo go; while :; do sleep 0.05; done'), { image: "debian:12" });
    const id = newId();
    const lost = await startTask(docker, ["sleep", "60"], { image: "debian:12", id });
    await vi.waitFor(() => expect([polite.said.stdout, deaf.said.stdout, containers.size]).toEqual(["go\n", "go\n", 3]), {
      timeout: 10_000,
    });
    polite.end();
    deaf.end();
    expect(await polite.ended).toMatchObject({ exit: { code: 7 }, stdout: "go\nbye\n" });
    expect(await deaf.ended).toMatchObject({ exit: { code: 137 } });
    await docker.endLeftovers?.(id);
    expect(containers.size).toBe(0);
    expect((await lost.ended).exit).toMatchObject({ kind: expect.anything() });
  });

  it("tells an image that is not there, memory that was not enough, and an engine that does not answer apart", async () => {
    const started = await engine();
    expect((await runTask(docker, ["true"], { image: "missing:1" })).exit).toEqual({
      kind: "failed",
      reason: "The image missing:1 is not there, or its program is not in it.",
    });
    const full = { image: "debian:12", environment: { FULL: "1" } };
    expect((await runTask(docker, sh("kill -9 $$"), full)).exit).toEqual({ kind: "out_of_memory" });
    started.stop();
    expect((await runTask(docker, ["true"], { image: "debian:12" })).exit).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("does not answer"),
    });
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
