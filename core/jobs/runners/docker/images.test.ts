import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { provideSettings } from "../../../env.ts";
import { type ImageConfig, startRegistry } from "../../testing/container-registry.ts";
import { busyboxFiles, startPodman } from "../../testing/podman.ts";
import { runTask } from "../../testing/run-task.ts";
import { docker } from "./docker.ts";
import { connect } from "./engine.ts";
import { provideImage, pruneImages } from "./images.ts";

let registry: Awaited<ReturnType<typeof startRegistry>>;
let engine: Awaited<ReturnType<typeof startPodman>>;
let files: string;

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "kh-images-"));
  busyboxFiles(files);
  registry = await startRegistry();
  engine = await startPodman(registry.host);
});
afterAll(() => {
  engine.stop();
  registry.stop();
  rmSync(files, { recursive: true, force: true });
});
beforeEach(() => {
  registry.asked.length = 0;
  provideSettings({
    JOBS_DOCKER_SOCKET: engine.socketPath,
    JOBS_REGISTRIES: "",
    JOBS_LOCAL_IMAGES: "",
    JOBS_IMAGE_MAX_MB: "",
    JOBS_IMAGE_CACHE_MB: "",
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const push = (name: string, tag: string, says: string, config?: ImageConfig, directory = files): string =>
  registry.push(name, tag, directory, { Env: [`WHICH=${says}`], ...config });

const run = (image: string) => runTask(docker, ["sh", "-c", 'echo "$WHICH"'], { image });
const reasonOf = async (image: string) => {
  const { exit } = await run(image);
  return exit.kind === "failed" ? exit.reason : expect.fail(`it ran: ${JSON.stringify(exit)}`);
};

async function choose(image: string): Promise<[which: string | undefined, notes: string[]]> {
  const notes: string[] = [];
  const api = await connect();
  const id = await provideImage(api, image, { signal: new AbortController().signal, onNote: (note) => notes.push(note) });
  const { Config } = await api.getImage(id).inspect();
  return [/^WHICH=(.*)$/m.exec(Config.Env.join("\n"))?.[1], notes];
}

it("only listed registries are asked for an image, and the refusal names these registries", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const image of [
    `127.0.0.1:${port}/x`,
    `localhost:${port}/x`,
    `[::1]:${port}/x`,
    "169.254.169.254/x",
    "ghcr.io/acme/x",
    "acme/x",
  ])
    expect(await reasonOf(image)).toMatch(/Jobs cannot use .*Docker Hub's official images/);
  expect(await reasonOf(`http://127.0.0.1:${port}/x`)).toContain("not the name of an image");
  expect([connections, registry.asked]).toEqual([0, []]);
  push("team/tool", "1", "listed");
  provideSettings({ JOBS_REGISTRIES: `${registry.host}/team` });
  expect(await run(`${registry.host}/team/tool:1`)).toMatchObject({ exit: { kind: "exited", code: 0 }, stdout: "listed\n" });
  expect(await reasonOf(`${registry.host}/other/tool:1`)).toContain(`images that begin with ${registry.host}/team/`);
});

it("a registry's response is not disclosed", async () => {
  const reason = await reasonOf("nothing:1");
  expect(registry.asked.some((path) => path.includes("/library/nothing/"))).toBe(true);
  expect(reason).toMatch(/^The image docker\.io\/library\/nothing:1 could not be pulled: .* The service's log has details\.$/);
  expect(reason).not.toContain("secret words");
});

it("the pulled and checked image is the one that runs", async () => {
  const first = push("library/tool", "1", "first");
  expect(await choose("tool:1")).toEqual(["first", ["Pulling docker.io/library/tool:1."]]);
  push("library/tool", "1", "second");
  push("library/other", "1", "another");
  await choose("other:1");
  await engine.podman("tag", "docker.io/library/other:1", "docker.io/library/tool:1");
  expect(await run("tool:1")).toMatchObject({ stdout: "first\n", notes: [] });
  expect((await choose(`tool@${first}`))[0]).toBe("first");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
  expect((await choose("tool:1"))[0]).toBe("second");
  expect(await choose(`tool:1@${first}`)).toEqual(["first", []]);
});

it("an image name's ID is forgotten when the image is removed", async () => {
  const name = `docker.io/library/gone@${push("library/gone", "1", "gone")}`;
  await choose(name);
  expect(await choose(name)).toEqual(["gone", []]);
  const api = await connect();
  const { Id } = await api.getImage(name).inspect();
  await api.getImage(Id).remove({ force: true });
  await pruneImages(api);
  await engine.podman("pull", "--quiet", name);
  expect(await choose(name)).toEqual(["gone", [`Pulling ${name}.`]]);
});

it("an image on the engine's machine cannot be used until the operator lists it", async () => {
  push("library/tool", "2", "private");
  await engine.podman("pull", "--quiet", "docker.io/library/tool:2");
  for (const name of ["docker.io/library/private:1", "localhost/private:1"])
    await engine.podman("tag", "docker.io/library/tool:2", name);
  expect(await reasonOf("private:1")).toContain("could not be pulled");
  expect(await reasonOf("localhost/private:1")).toContain("Jobs cannot use");
  provideSettings({ JOBS_LOCAL_IMAGES: "localhost/private" });
  registry.asked.length = 0;
  expect(await choose("localhost/private:1")).toEqual(["private", []]);
  expect(registry.asked).toEqual([]);
  expect(await reasonOf("localhost/private:2")).toContain("no longer exists");
});

it("an image with volumes, or one that is too large, is refused and removed", async () => {
  push("library/database", "1", "volumes", { Volumes: { "/var/lib/data": {} } });
  expect(await reasonOf("database:1")).toContain("declares volumes (/var/lib/data)");
  provideSettings({ JOBS_IMAGE_MAX_MB: "4" });
  const large = mkdtempSync(join(tmpdir(), "kh-images-"));
  onTestFinished(() => rmSync(large, { recursive: true, force: true }));
  writeFileSync(join(large, "large"), Buffer.alloc(6 * 1024 ** 2));
  push("library/large", "1", "large", {}, large);
  expect(await reasonOf("large:1")).toContain("the limit of 4 MiB");
  expect((await engine.images()).filter((name) => /database|large/.test(name))).toEqual([]);
  expect(await engine.volumes()).toEqual([]);
});

it("a worker removes the least recently used images above a total size, but never the operator's", async () => {
  push("library/operators", "1", "operators");
  await engine.podman("pull", "--quiet", "docker.io/library/operators:1");
  const start = Date.now();
  const at = (minutes: number) => vi.useFakeTimers({ toFake: ["Date"], now: start + minutes * 60_000 });
  for (const [index, name] of ["one", "two", "three"].entries()) {
    at(60 + index);
    push(`library/${name}`, "1", name);
    expect((await choose(`${name}:1`))[0]).toBe(name);
  }
  at(65);
  expect(await choose("one:1")).toEqual(["one", []]);
  expect((await choose("operators:1"))[0]).toBe("operators");
  at(90);
  provideSettings({ JOBS_IMAGE_MAX_MB: "4", JOBS_IMAGE_CACHE_MB: "7" });
  push("library/four", "1", "four");
  expect((await choose("four:1"))[0]).toBe("four");
  const kept = (await engine.images()).filter((name) => name.includes("library/")).map((name) => name.replace(/.*\//, ""));
  expect(kept).toEqual(expect.arrayContaining(["four", "one", "operators"]));
  expect(kept.filter((name) => ["two", "three"].includes(name))).toEqual([]);
  push("library/five", "1", "five");
  provideSettings({ JOBS_IMAGE_MAX_MB: "7" });
  await expect(choose("five:1")).rejects.toThrow("no disk space left for job images");
  expect(await choose("four:1")).toEqual(["four", []]);
});
