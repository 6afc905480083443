import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, utimes } from "node:fs/promises";
import { connect } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Duplex, Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gitLauncher, startGitLauncher } from "./git-launcher.ts";
import { LAUNCH_MAX_MS } from "./launched-git.ts";
import { coresAllowedTo } from "./linux-process.ts";
import { gitLines, runGit, spawnGit } from "./run-git.ts";

let stop: () => void;
let path: string;
const before = process.env.TMPDIR;
beforeAll(async () => {
  process.env.TMPDIR = await mkdtemp(join(tmpdir(), "launcher-"));
  stop = await startGitLauncher();
  path = await mkdtemp(join(tmpdir(), "launched-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
});
afterAll(() => {
  stop();
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
});

const parentOf = (pid: number | undefined) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
const closed = (child: Awaited<ReturnType<typeof spawnGit>>) =>
  new Promise((resolve) => child.once("close", (status, signal) => resolve(status ?? signal)));

/** See proc_pid_stat(5). The text after the name begins with the third field. */
const statOf = (pid: number | undefined, field: number) =>
  Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[field - 3]);
const nicenessOf = (pid: number | undefined) => statOf(pid, 19);
const SCHED_IDLE = 5;
const policyOf = (pid: number | undefined) => statOf(pid, 41);
const coresOf = (pid: number | undefined) => coresAllowedTo(pid as number).length;

test("git gets a lower priority once it has used some processor time, and `idle` git the lowest", async () => {
  const [idle, busy, last, long] = await Promise.all([
    spawnGit(path, ["cat-file", "--batch"], { niceness: 7 }),
    spawnGit(path, ["hash-object", "--stdin"], { niceness: 7 }),
    spawnGit(path, ["hash-object", "--stdin"], { niceness: "idle" }),
    spawnGit(path, ["cat-file", "--batch"], { niceness: 7, isLong: true }),
  ]);
  expect(parentOf(busy.pid)).not.toBe(process.pid);
  expect(parentOf(parentOf(busy.pid))).toBe(process.pid);
  const feeding = new AbortController();
  const zeros = () => {
    const endless = new Readable({ read: () => endless.push(Buffer.alloc(64 * 1024)) });
    return endless;
  };
  const fed = Promise.allSettled([busy, last].map(({ stdin }) => pipeline(zeros(), stdin, { signal: feeding.signal })));
  await expect.poll(() => nicenessOf(busy.pid)).toBe(7);
  await expect.poll(() => policyOf(last.pid)).toBe(SCHED_IDLE);
  expect(policyOf(busy.pid)).toBe(0);
  await expect.poll(() => coresOf(last.pid)).toBe(Math.max(1, Math.floor(availableParallelism() / 2)));
  expect(coresOf(busy.pid)).toBe(coresOf(process.pid));
  expect(nicenessOf(idle.pid)).toBe(0);
  expect(nicenessOf(long.pid)).toBe(7);
  feeding.abort();
  await fed;
  for (const { stdin } of [idle, long]) stdin.end();
  for (const child of [idle, busy, last, long]) {
    child.stdout.resume();
    child.stderr.resume();
  }
  expect(await Promise.all([idle, busy, last, long].map(closed))).toEqual([0, 0, 0, 0]);
  expect(idle).toMatchObject({ exitCode: 0, signalCode: null });
});

test("S137 git without a niceness of its own gets a lower priority once it has used some processor time", async () => {
  const busy = await spawnGit(path, ["hash-object", "--stdin"]);
  const feeding = new AbortController();
  const endless = new Readable({ read: () => endless.push(Buffer.alloc(64 * 1024)) });
  const fed = pipeline(endless, busy.stdin, { signal: feeding.signal }).catch(() => undefined);
  await expect.poll(() => nicenessOf(busy.pid)).toBe(5);
  feeding.abort();
  await fed;
  busy.stdout.resume();
  busy.stderr.resume();
  await closed(busy);
});

test("60 concurrent commands each get their own input and output", async () => {
  const contents = Array.from({ length: 60 }, (_, at) => randomBytes(at === 7 ? 9 * 1024 ** 2 : 1 + at * 997));
  const ids = await Promise.all(
    contents.map(async (input) => (await runGit(path, ["hash-object", "-w", "--stdin"], { input })).toString().trim()),
  );
  expect(ids).toEqual(contents.map((one) => createHash("sha1").update(`blob ${one.length}\0`).update(one).digest("hex")));
  const read = await Promise.all(ids.map((id) => runGit(path, ["cat-file", "blob", id])));
  expect(read.every((bytes, at) => bytes.equals(contents[at] as Buffer))).toBe(true);
});

test("git's error message and status are returned", async () => {
  await expect(runGit(path, ["cat-file", "blob", "0".repeat(40)])).rejects.toMatchObject({
    name: "GitFailed",
    status: 128,
    stderr: expect.stringContaining("fatal"),
  });
  await expect(runGit(path, ["version"], { env: { NAME: "a\0b" } })).rejects.toThrow(/null bytes/);
  await expect(runGit(join(path, "missing"), ["version"])).rejects.toThrow(/ENOENT/);
});

test("output can be read line by line", async () => {
  const input = Array.from({ length: 3 }, (_, at) => `line ${at}\n`).join("");
  const lines: string[] = [];
  for await (const some of gitLines(path, ["stripspace"], { input })) lines.push(...some);
  expect(lines).toEqual(["line 0", "line 1", "line 2"]);
});

test("a deadline ends git", async () => {
  const deadline = new AbortController();
  const child = await spawnGit(path, ["cat-file", "--batch"], { signal: deadline.signal });
  const failure = new Promise<Error>((resolve) => child.once("error", resolve));
  child.stderr.resume();
  const output = text(child.stdout);
  deadline.abort(new DOMException("too late", "TimeoutError"));
  expect(await closed(child)).toBe("SIGTERM");
  expect(await failure).toMatchObject({ name: "TimeoutError" });
  expect(await output).toBe("");
  expect(child.kill()).toBe(false);
});

test("a deadline that passes before git starts refuses the start", async () => {
  const child = await spawnGit(path, ["cat-file", "--batch"], { signal: AbortSignal.abort() });
  child.stderr.resume();
  child.stdout.resume();
  expect(await closed(child)).toBe("SIGTERM");
});

test("git is not started for a request that was already aborted", async () => {
  const child = await spawnGit(path, ["cat-file", "--batch"]);
  child.stderr.resume();
  child.stdout.resume();
  const launcher = parentOf(child.pid);
  const made = join(tmpdir(), "made-for-nobody");
  process.kill(launcher, "SIGSTOP");
  const versions = Promise.all(Array.from({ length: 64 }, () => runGit(path, ["version"])));
  try {
    const leaving = new AbortController();
    const left = runGit(path, ["init", "--bare", made], { signal: leaving.signal });
    const late = runGit(path, ["init", "--bare", made], { signal: AbortSignal.timeout(20) });
    leaving.abort("left");
    await expect(left).rejects.toBe("left");
    await expect(late).rejects.toMatchObject({ code: "unavailable" });
  } finally {
    process.kill(launcher, "SIGCONT");
  }
  expect(await versions).toHaveLength(64);
  await runGit(path, ["version"]);
  expect(existsSync(made)).toBe(false);
  child.kill();
  expect(await closed(child)).toBe("SIGTERM");
});

test("a connection that nobody waits for is closed", async () => {
  const [folder = "", ...more] = (await readdir(tmpdir())).filter((name) => name.startsWith("keyhook-git-"));
  expect(more).toEqual([]);
  const socket = connect(join(tmpdir(), folder, "streams"));
  socket.write("00000000-0000-0000-0000-000000000000 1\n");
  expect(await Promise.race([buffer(socket), delay(LAUNCH_MAX_MS / 2, "open")])).toHaveLength(0);
});

test("a hook can ask on its fourth stream, and notices when this process closes the stream", async () => {
  const alias = 'alias.ask=!echo question >&3; read -r answer <&3; echo "$answer"; read -r more <&3 || echo closed';
  const child = await spawnGit(path, ["ask"], { config: [alias], hasChannel: true });
  expect(parentOf(child.pid)).not.toBe(process.pid);
  const channel = (child.stdio as unknown as Duplex[])[3] as Duplex;
  expect(String(await once(channel, "data"))).toBe("question\n");
  await delay(50);
  channel.end("yes\n");
  child.stderr.resume();
  const end = closed(child);
  expect(await text(child.stdout)).toBe("yes\nclosed\n");
  expect(await end).toBe(0);
});

test("the processes of a killed launcher are killed too, and a new launcher starts git", async () => {
  const child = await spawnGit(path, ["wait"], { config: ["alias.wait=!exec sleep 60"] });
  child.stderr.resume();
  child.stdout.resume();
  const before = gitLauncher();
  process.kill(parentOf(child.pid), "SIGKILL");
  expect(await closed(child)).toBe("SIGKILL");
  await expect.poll(() => isAlive(child.pid)).toBe(false);
  expect((await runGit(path, ["version"])).toString()).toMatch(/^git version/);
  await expect.poll(() => gitLauncher(), { timeout: 10_000 }).toBeDefined();
  expect(gitLauncher()).not.toBe(before);
  expect((await runGit(path, ["version"])).toString()).toMatch(/^git version/);
});

test("git starts even if the launcher dies shortly before the start", async () => {
  const child = await spawnGit(path, ["cat-file", "--batch"]);
  child.stderr.resume();
  child.stdout.resume();
  const end = closed(child);
  const launcher = parentOf(child.pid);
  process.kill(launcher, "SIGSTOP");
  const versions = Promise.all([1, 2, 3].map(() => runGit(path, ["version"])));
  await delay(20);
  process.kill(launcher, "SIGKILL");
  expect((await versions).map(String)).toEqual([1, 2, 3].map(() => expect.stringMatching(/^git version/)));
  expect(await end).toBe("SIGKILL");
  await expect.poll(() => gitLauncher(), { timeout: 10_000 }).toBeDefined();
});

test("a launcher that cannot start is started again later", async () => {
  const folder = await mkdtemp(join(tmpdir(), "full-"));
  const launcher = gitLauncher();
  const own = process.env.TMPDIR;
  process.env.TMPDIR = join(folder, "missing");
  const child = await spawnGit(path, ["cat-file", "--batch"]);
  process.kill(parentOf(child.pid), "SIGKILL");
  await expect.poll(() => gitLauncher()).toBeUndefined();
  await delay(1_500);
  expect(gitLauncher()).toBeUndefined();
  process.env.TMPDIR = own;
  await expect.poll(() => gitLauncher(), { timeout: 10_000 }).toBeDefined();
  expect(gitLauncher()).not.toBe(launcher);
});

test("a busy process accepts the connections of many starts", async () => {
  const versions = Promise.all(Array.from({ length: 250 }, () => runGit(path, ["version"])));
  await delay(0);
  const until = Date.now() + 500;
  while (Date.now() < until);
  expect(await versions).toHaveLength(250);
}, 60_000);

test("the processes of a stopped launcher are stopped too", async () => {
  const child = await spawnGit(path, ["cat-file", "--batch"]);
  stop();
  await expect.poll(() => isAlive(child.pid), { timeout: 10_000 }).toBe(false);
  stop = await startGitLauncher();
  await delay(10);
  expect(gitLauncher()).toBeDefined();
});

test("a new launcher removes only the leftovers of killed processes", async () => {
  const script = `import { createServer } from "node:net"; createServer().listen(process.argv[1], () => console.log("listening"));`;
  const [killed, alive] = await Promise.all(
    ["killed", "alive"].map(async (name) => {
      const directory = join(tmpdir(), `keyhook-git-${name}`);
      await mkdir(directory);
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script, join(directory, "streams")]);
      await once(child.stdout, "data");
      await utimes(directory, 0, 0);
      return { child, directory };
    }),
  );
  killed?.child.kill("SIGKILL");
  await once(killed?.child as ChildProcess, "exit");
  stop();
  stop = await startGitLauncher();
  await expect.poll(async () => (await readdir(tmpdir())).includes("keyhook-git-killed")).toBe(false);
  expect(await readdir(alive?.directory as string)).toEqual(["streams"]);
  alive?.child.kill();
  expect((await runGit(path, ["version"])).toString()).toMatch(/^git version/);
});

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid as number, 0);
  } catch {
    return false;
  }
}
