import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, type TestContext } from "vitest";
import { provideSettings } from "../../../env.ts";
import { MEBIBYTE, runTask, smallLimits, startTask } from "../../testing/run-task.ts";
import { reportRunner } from "../find-runner.ts";
import { readRunnerReport } from "../runner-report.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { type Cgroups, findCgroups } from "./cgroups.ts";

const run = runTask.bind(undefined, bubblewrap);
const start = startTask.bind(undefined, bubblewrap);
const perl = (script: string) => ["perl", "-e", script];

const call = { x64: { read: 0, mmap: 9, memfd: 319 }, arm64: { read: 63, mmap: 222, memfd: 279 } }[
  process.arch as "x64" | "arm64"
];
const READ_WRITE = 3;
const SHARED_ANONYMOUS = 0x21;

const shared = `
  open(my $zero, "<", "/dev/zero");
  for (1..40) {
    my $at = syscall(${call.mmap}, 0, ${8 * MEBIBYTE}, ${READ_WRITE}, ${SHARED_ANONYMOUS}, -1, 0);
    syscall(${call.read}, fileno($zero), $at, ${8 * MEBIBYTE});
    select(undef, undef, undef, 0.02);
  }`;
const memfd = `
  my $name = "hidden";
  for (1..40) {
    my $fd = syscall(${call.memfd}, $name, 0);
    die "refused" if $fd < 0;
    open(my $file, ">&=", $fd);
    push @kept, $file;
    syswrite($file, "x" x ${8 * MEBIBYTE});
    select(undef, undef, undef, 0.02);
  }`;
const held = (script: string) => perl(`$| = 1; ${script} sleep 60; print "held";`);

let cgroups: Cgroups | { reason: string };
beforeAll(async () => {
  cgroups = await findCgroups();
});

function needsCgroup({ skip }: TestContext): Cgroups {
  if (!("reason" in cgroups)) return cgroups;
  // These errors mean that the kernel rejects how the service uses cgroups.
  expect(cgroups.reason).not.toMatch(/EINVAL|EBUSY|ERANGE/);
  return skip(cgroups.reason);
}

describe.each(["auto", "off"] as const)("memory, with JOBS_CGROUP=%s", (setting) => {
  beforeEach((context) => {
    if (setting === "auto") needsCgroup(context);
    provideSettings({ JOBS_CGROUP: setting });
  });

  it("shared anonymous pages are counted", async () => {
    const { exit, stdout } = await run(held(shared));
    expect({ exit, stdout }).toEqual({ exit: { kind: "out_of_memory" }, stdout: "" });
  });

  it("an unmapped memfd does not evade the limit", async () => {
    const { exit, stdout, stderr } = await run(held(memfd));
    expect(stdout).toBe("");
    if (setting === "off") expect(stderr).toContain("refused");
    else expect(exit).toEqual({ kind: "out_of_memory" });
  });

  it("files in /tmp are counted, even empty files, which take kernel memory", { timeout: 120_000 }, async () => {
    const limits = { ...smallLimits, memoryBytes: 32 * MEBIBYTE, scratchBytes: 512 * MEBIBYTE };
    const files = held('open(my $file, ">", "/tmp/full"); for (1..100) { syswrite($file, "x" x (1 << 20)); }');
    expect((await run(files, { limits })).exit).toEqual({ kind: "out_of_memory" });
    const names = held('for (1..80000) { open(my $file, ">", "/tmp/$_"); }');
    expect((await run(names, { limits })).exit).toEqual({ kind: "out_of_memory" });
  });

  it("a process that a thread started is counted", async () => {
    const script = `
      const { Worker } = require("node:worker_threads");
      new Worker('require("node:child_process").spawn("perl", ["-e", "my $x = q(x) x (200 << 20); sleep 3; print q(held)"], { stdio: "inherit" })', { eval: true });`;
    const { exit, stdout } = await run(["node", "-e", script], { limits: { ...smallLimits, memoryBytes: 160 * MEBIBYTE } });
    expect({ exit, stdout }).toEqual({ exit: { kind: "out_of_memory" }, stdout: "" });
  });

  it("pages that a fork shares are counted once", async () => {
    const { exit } = await run(perl('my $x = "x" x (40 << 20); for (1..6) { if (!fork) { sleep 2; exit } } 1 while wait > 0;'));
    expect(exit).toEqual({ kind: "exited", code: 0 });
  });

  it("when the machine runs out of memory, the kernel kills a process in a sandbox first", async () => {
    expect((await run(["cat", "/proc/self/oom_score_adj"])).stdout).toBe("1000\n");
  });
});

describe("a cgroup", () => {
  beforeEach((context) => {
    needsCgroup(context);
    provideSettings({ JOBS_CGROUP: "auto" });
  });

  const busy = (processes: number, from: number) =>
    perl(`for (1..${processes}) { if (!fork) { sleep 1 while time < ${from}; alarm 2; 1 while 1; } }
      1 while wait > 0; my @t = times; print $t[2] + $t[3];`);
  const soon = () => Math.ceil(Date.now() / 1_000) + 1;

  it("gives two tasks the same share of the CPUs, however many processes each has", async () => {
    const from = soon();
    const [many, few] = await Promise.all([run(busy(16, from)), run(busy(2, from))]);
    const share = Number(few.stdout) / Number(many.stdout);
    console.info(`2 processes got ${share.toFixed(2)} of the CPU time of 16; by processes it would be 0.13`);
    expect(share).toBeGreaterThan(0.3);
  });

  it("limits a task to the CPUs of its flavor", async () => {
    const { stdout } = await run(busy(4, soon()), { limits: { ...smallLimits, cpus: 0.1 } });
    expect(Number(stdout)).toBeLessThan(2 * 0.1 * 3);
  });

  it("is removed with its task, or by a sweep if its worker was killed", async () => {
    const { parents } = cgroups as Cgroups;
    const task = await start(["sh", "-c", "echo ready; sleep 60"]);
    await expect.poll(() => task.said.stdout, { timeout: 10_000 }).toBe("ready\n");
    const ours = groupsOf(parents, process.pid);
    expect(ours.length).toBe(parents.length);
    task.kill();
    await task.ended;
    expect(groupsOf(parents, process.pid)).toEqual([]);

    const worker = await startWorker();
    worker.kill("SIGKILL");
    await once(worker, "exit");
    expect(groupsOf(parents, worker.pid)).not.toEqual([]);
    const next = await startWorker();
    expect(groupsOf(parents, worker.pid)).toEqual([]);
    next.kill();
    await once(next, "exit");
  });
});

describe("a task's user", () => {
  beforeEach(({ skip }) => {
    if (process.getuid?.() !== 0) skip("A service that is not root runs tasks as its own user, in namespaces of their own.");
    provideSettings({ JOBS_UIDS: "60700-60700" });
  });
  afterEach(() => provideSettings({ JOBS_UIDS: "60706-61183" }));

  it("belongs to one task at a time, even with several workers", {
    timeout: 60_000,
  }, async () => {
    const inUse = { kind: "failed", reason: expect.stringContaining("all 1 user IDs for jobs") };
    const first = await start(["sh", "-c", "echo ready; sleep 60"]);
    expect((await run(["true"])).exit).toEqual(inUse);
    first.kill();
    await first.ended;

    const worker = await startWorker({ JOBS_UIDS: "60700-60700" });
    expect((await run(["true"])).exit).toEqual(inUse);
    worker.kill("SIGKILL");
    await once(worker, "exit");
    await expect.poll(async () => (await run(["true"])).exit, { timeout: 10_000 }).toEqual({ kind: "exited", code: 0 });
  });
});

describe.each(["auto", "off"] as const)("processes, with JOBS_CGROUP=%s", (setting) => {
  it("a fork bomb does not prevent the task beside it from starting processes", async (context) => {
    if (setting === "auto") needsCgroup(context);
    provideSettings({ JOBS_CGROUP: setting });
    const bomb = await start(
      perl(
        '$| = 1; while (1) { my $pid = fork; if (!defined $pid) { print "full\n"; select(undef, undef, undef, 0.2) } elsif (!$pid) { sleep 60 } }',
      ),
    );
    await expect.poll(() => bomb.said.stdout, { timeout: 20_000 }).toContain("full");
    const beside = await run(
      perl(
        "my $n = 0; for (1..40) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 1; exit } $n++ } 1 while wait > 0; print $n",
      ),
    );
    bomb.kill();
    await bomb.ended;
    expect(beside).toMatchObject({ stdout: "40", stderr: "" });
  });
});

it("a worker reports how it limits tasks, for the command `doctor`", async () => {
  provideSettings({ JOBS_CGROUP: "off" });
  await reportRunner();
  expect(await readRunnerReport()).toMatchObject({
    kind: "runs",
    runner: "bubblewrap",
    limits: { isExact: false, sentence: expect.stringContaining("JOBS_CGROUP is off") },
  });
  if ("reason" in cgroups) return;
  provideSettings({ JOBS_CGROUP: "auto" });
  await reportRunner();
  expect(await readRunnerReport()).toMatchObject({ limits: { sentence: expect.stringContaining(`version ${cgroups.version}`) } });
});

function groupsOf(parents: readonly string[], pid: number | undefined): string[] {
  return parents.flatMap((parent) => readdirSync(parent).filter((name) => name.split(".")[1] === String(pid)));
}

async function startWorker(settings: Record<string, string> = {}) {
  const here = join(process.cwd(), "core/jobs");
  const program = `
    const { startTask } = await import(${JSON.stringify(join(here, "testing/run-task.ts"))});
    const { bubblewrap } = await import(${JSON.stringify(join(here, "runners/bubblewrap/bubblewrap.ts"))});
    const { said, ended } = await startTask(bubblewrap, ["sh", "-c", "echo begun; exec sleep 60"]);
    ended.then(({ exit }) => process.stdout.write(JSON.stringify(exit)));
    setInterval(() => said.stdout && process.stdout.write("begun"), 20);`;
  const worker = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...settings },
  });
  onTestFinished(() => void worker.kill("SIGKILL"));
  const [said] = await once(worker.stdout, "data");
  expect(String(said)).toContain("begun");
  return worker;
}
