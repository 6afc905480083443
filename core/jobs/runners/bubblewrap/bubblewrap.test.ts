import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { databaseUrl, env, provideSettings } from "../../../env.ts";
import { newId } from "../../../ids.ts";
import { MEBIBYTE, runTask, smallLimits, startTask } from "../../testing/run-task.ts";
import { probe } from "../find-runner.ts";
import { unsandboxed } from "../unsandboxed.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { parseImage } from "./host-programs.ts";

const run = runTask.bind(undefined, bubblewrap);
const sh = (script: string) => ["sh", "-c", script];

function isRunning(word: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes(word);
    } catch {
      return false;
    }
  });
}

function isStarted(text: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "latin1") : "";
      return line.includes(text) && !line.includes("--input-type=module");
    } catch {
      return false;
    }
  });
}

function isSandboxed(text: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      const [program, ...words] = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0") : [];
      return program !== "bwrap" && words.join(" ").includes(text) && !words.includes("--input-type=module");
    } catch {
      return false;
    }
  });
}

const longTime = () => `9${Number.parseInt(newId().slice(-6), 16)}`;

const hostile = `
  const fs = require("node:fs"), net = require("node:net"), { spawnSync } = require("node:child_process");
  const [dataDir, checkout, servicePid, port] = process.argv.slice(1);
  const attempt = (act) => { try { const got = act(); return got === undefined ? "done" : got; } catch (error) { return error.code; } };
  const fill = (path) => { const fd = fs.openSync(path, "w"); const block = Buffer.alloc(1 << 20, 1); let mebibytes = 0;
    try { for (; mebibytes < 4096; mebibytes++) { let at = 0; while (at < block.length) at += fs.writeSync(fd, block, at); } } catch (error) { fs.rmSync(path); return mebibytes; } return "endless"; };
  const status = fs.readFileSync("/proc/self/status", "latin1");
  const of = (name) => new RegExp("^" + name + ":\\\\s+(\\\\S+)", "m").exec(status)?.[1];
  const result = {
    shadow: attempt(() => fs.readFileSync("/etc/shadow")),
    dataDir: attempt(() => fs.readdirSync(dataDir)),
    checkout: attempt(() => fs.readdirSync(checkout)),
    root: attempt(() => fs.readdirSync("/root")), home: attempt(() => fs.readdirSync("/home")),
    service: attempt(() => process.kill(Number(servicePid), 0)),
    serviceEnvironment: attempt(() => fs.readFileSync("/proc/" + servicePid + "/environ")),
    environments: fs.readdirSync("/proc").filter((pid) => /^\\d+$/.test(pid)).map((pid) => attempt(() => fs.readFileSync("/proc/" + pid + "/environ", "latin1"))).join("|"),
    processes: fs.readdirSync("/proc").filter((pid) => /^\\d+$/.test(pid)).length,
    system: attempt(() => fs.writeFileSync("/usr/bin/evil", "")), etc: attempt(() => fs.writeFileSync("/etc/evil", "")), top: attempt(() => fs.mkdirSync("/evil")),
    kernel: attempt(() => fs.writeFileSync("/proc/sys/kernel/core_pattern", "|/tmp/evil")),
    namespace: spawnSync("unshare", ["--user", "--map-root-user", "true"]).status, mount: spawnSync("mount", ["-t", "tmpfs", "none", "/tmp"]).status,
    tmp: fill("/tmp/full"), memory: fill("/dev/shm/full"), work: fill("/workspace/full"),
    interfaces: Object.keys(require("node:os").networkInterfaces()),
    privileges: [of("CapEff"), of("CapBnd"), of("NoNewPrivs"), of("Seccomp")], uid: process.getuid(),
    variables: Object.keys(process.env).sort(),
  };
  const socket = net.connect(Number(port), "127.0.0.1");
  const tell = (network) => { console.log(JSON.stringify({ ...result, network })); process.exit(); };
  socket.on("error", (error) => tell(error.code)).on("connect", () => tell("connected"));
`;

describe("S132 a job in bubblewrap", () => {
  it("cannot see or reach anything on the machine that it runs on", async () => {
    const { hostname, port } = new URL(databaseUrl());
    const there = connect(Number(port), hostname);
    await once(there, "connect");
    there.destroy();
    const { exit, stdout, stderr } = await run(
      ["node", "-e", hostile, env().DATA_DIR, process.cwd(), String(process.pid), port],
      { environment: { GREETING: "hello" }, payload: "{}" },
    );
    expect(stderr).toBe("");
    expect(exit).toEqual({ kind: "exited", code: 0 });
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({
      shadow: "ENOENT",
      dataDir: "ENOENT",
      checkout: "ENOENT",
      root: "ENOENT",
      home: "ENOENT",
      service: "ESRCH",
      serviceEnvironment: "ENOENT",
      system: "EROFS",
      etc: "EROFS",
      top: "EROFS",
      interfaces: ["lo"],
      network: "ECONNREFUSED",
      privileges: ["0000000000000000", "0000000000000000", "1", "2"],
      uid: 1000,
      variables: ["GREETING", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "WEBHOOK_PAYLOAD_FILE"],
    });
    expect(["EACCES", "EROFS", "EPERM"]).toContain(found.kernel);
    expect(found.environments).not.toMatch(/DATABASE_URL|SECRET_KEY/);
    expect(found.processes).toBeLessThan(10);
    expect([found.namespace, found.mount]).not.toContain(0);
    for (const place of [found.tmp, found.work, found.memory]) expect(place).toBeGreaterThan(0);
    expect(found.tmp + found.work + found.memory).toBeLessThanOrEqual(smallLimits.scratchBytes / MEBIBYTE);
  });

  it("has a limited number of processes, which all end with the job", async () => {
    const [bomb, left] = [longTime(), longTime()];
    const script = `sleep ${left} & i=0; while [ $i -lt 200 ]; do sleep ${bomb} & i=$((i+1)); done; echo all; exit 5`;
    const { ended, said } = await startTask(bubblewrap, sh(`(${script}) 2>&1; exec sleep 4`));
    await vi.waitFor(() => expect(said.stdout).toMatch(/fork/i), { timeout: 10_000 });
    const running = readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(bomb);
      } catch {
        return false;
      }
    });
    expect(running.length).toBeLessThanOrEqual(smallLimits.processes);
    expect(isRunning(left)).toBe(true);
    await ended;
    expect(isRunning(left) || isRunning(bomb)).toBe(false);
  });

  it("is ended when its processes together use more memory than its limit", async () => {
    const take = "const all = []; setInterval(() => { for (let i = 0; i < 4; i++) all.push(Buffer.alloc(1 << 20, 1)); }, 5)";
    const { exit } = await run(sh(`node -e '${take}' & node -e '${take}' & wait`), {
      limits: { ...smallLimits, memoryBytes: 192 * MEBIBYTE },
    });
    expect(exit).toEqual({ kind: "out_of_memory" });
  });

  it("gets a signal, and is killed if it does not react", async () => {
    const polite = await startTask(bubblewrap, sh('trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done'));
    const deaf = await startTask(bubblewrap, sh('trap "" TERM; echo ready; while :; do sleep 0.05; done'));
    await vi.waitFor(() => expect([polite.said.stdout, deaf.said.stdout]).toEqual(["ready\n", "ready\n"]), { timeout: 10_000 });
    polite.end();
    deaf.end();
    expect(await polite.ended).toMatchObject({ exit: { kind: "exited", code: 7 }, stdout: "ready\nbye\n" });
    expect(await deaf.ended).toMatchObject({ exit: { kind: "exited", code: 137 } });
  });

  it("ends at once if its output cannot be processed, without ending the worker", async () => {
    const onOutput = async () => {
      throw new RangeError("too much of it");
    };
    for (const runner of [bubblewrap, unsandboxed]) {
      await expect(runTask(runner, sh(`echo hello; exec sleep ${longTime()}`), { onOutput })).rejects.toThrow("too much of it");
    }
  });

  it("dies with its worker, whenever the worker dies", async () => {
    const times = [0, undefined].map((wait) => ({ wait, time: longTime() }));
    await Promise.all(
      times.map(async ({ wait, time }) => {
        const program = `
          const { startTask } = await import(${JSON.stringify(join(process.cwd(), "core/jobs/testing/run-task.ts"))});
          const { bubblewrap } = await import(${JSON.stringify(join(process.cwd(), "core/jobs/runners/bubblewrap/bubblewrap.ts"))});
          const { said } = await startTask(bubblewrap, ["sh", "-c", "echo begun; exec sleep ${time}"]);
          setInterval(() => said.stdout && process.stdout.write("begun"), 20);`;
        const worker = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
        if (wait === undefined) await once(worker.stdout, "data");
        else {
          await vi.waitFor(() => expect(isStarted(time)).toBe(true), { timeout: 15_000, interval: 25 });
          await sleep(wait);
        }
        worker.kill("SIGKILL");
        await vi.waitFor(() => expect(isSandboxed(time)).toBe(false), { timeout: 20_000, interval: 50 });
        await sleep(500);
        expect(isSandboxed(time)).toBe(false);
      }),
    );
  });

  it("gets its environment only after its limits are set, and never on a command line", async () => {
    const secret = newId();
    const { ended, said } = await startTask(bubblewrap, sh("ulimit -c; ulimit -n; echo ready; sleep 1"), {
      environment: { TOKEN: secret, LD_PRELOAD: "/workspace/nothing.so", IFS: "/", QUOTED: `it's "so" $HOME\n` },
    });
    await vi.waitFor(() => expect(said.stdout).toContain("ready"), { timeout: 10_000 });
    const lines = readdirSync("/proc").map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1");
      } catch {
        return "";
      }
    });
    expect(lines.some((line) => line.includes(secret))).toBe(false);
    const ours = readdirSync(tmpdir()).filter((name) => name.startsWith("keyhook-run-"));
    const left = ours.flatMap((name) => {
      try {
        return readFileSync(join(tmpdir(), name, "start"), "utf8");
      } catch {
        return [];
      }
    });
    expect(left.some((text) => text.includes(secret))).toBe(false);
    expect((await ended).stdout).toBe("0\n4096\nready\n");
    const { stdout } = await run(["node", "-p", "JSON.stringify(process.env.QUOTED)"], {
      environment: { QUOTED: `it's "so" $HOME\n` },
    });
    expect(JSON.parse(stdout)).toBe(`it's "so" $HOME\n`);
  });
});

describe("a job in bubblewrap", () => {
  it("finds its Space's files, read-only, the payload in a file, and this service's Node", async () => {
    const files = mkdtempSync(join(tmpdir(), "keyhook-files-"));
    onTestFinished(() => rmSync(files, { recursive: true, force: true }));
    writeFileSync(
      join(files, "app.mjs"),
      'console.log(process.version, (await import("node:fs")).readFileSync(process.env.WEBHOOK_PAYLOAD_FILE, "utf8"))',
    );
    const payload = JSON.stringify({ text: "ä".repeat(200_000) });
    const { stdout, stderr } = await run(sh("node app.mjs; touch more.txt"), { filesDirectory: files, payload });
    expect(stdout).toBe(`${process.version} ${payload}\n`);
    expect(stderr).toMatch(/Read-only file system/);
  });

  it("names the program that replaces its image, and is refused if no program does", async () => {
    provideSettings({ JOBS_IMAGES: "debian,node" });
    const node = await run(["node", "-p", "1"], { image: "docker.io/library/node:20-slim" });
    expect(node).toMatchObject({ exit: { kind: "exited", code: 0 }, stdout: "1\n" });
    expect(node.notes[0]).toMatch(
      /^No image was pulled: this machine's own programs \(node [\d.]+\) run the job instead of docker\.io\/library\/node:20-slim\./,
    );
    expect(node.notes[0]).toContain("not the requested version");
    const other = await run(["ls"], { image: "somebody/debian" });
    expect(other.exit).toMatchObject({ kind: "failed", reason: expect.stringContaining("JOBS_RUNNER=docker") });
    expect(parseImage("ghcr.io/x/python:3")).toEqual({ name: "ghcr.io/x/python", tag: "3" });
    expect(parseImage("python@sha256:00")).toEqual({ name: "python", tag: "" });
    expect(parseImage("localhost:5000/a/b:1.2")).toEqual({ name: "localhost:5000/a/b", tag: "1.2" });
  });

  it("runs if the probe finds no fault, and fails if its program is missing", async () => {
    expect(await probe(bubblewrap)).toBeUndefined();
    expect(await run(["no-such-program"])).toMatchObject({ exit: { kind: "exited", code: 127 } });
    expect(await run([])).toMatchObject({ exit: { kind: "failed", reason: expect.stringContaining("has no command") } });
  });

  it("S132 with network access, reaches this service, but neither other local services nor a metadata service", async () => {
    const servers = [createServer((_, res) => res.end("the service")), createServer((_, res) => res.end("something else"))];
    const [own = 0, other = 0] = await Promise.all(
      servers.map(async (server, i) => {
        server.listen(0, i === 0 ? "127.0.0.1" : "0.0.0.0");
        await once(server, "listening");
        return (server.address() as AddressInfo).port;
      }),
    );
    onTestFinished(() => {
      for (const server of servers) server.close();
    });
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const machine = addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
    provideSettings({ ORIGIN: `http://127.0.0.1:${own}`, OUTBOUND_ALLOW_CIDRS: `127.0.0.0/8,0.0.0.0/8,${machine}/32` });
    const { port: database } = new URL(databaseUrl());
    const targets = {
      own: `127.0.0.1:${own}`,
      other: `127.0.0.1:${other}`,
      database: `127.0.0.1:${database}`,
      metadata: "169.254.169.254:80",
      mapped: `[::ffff:127.0.0.1]:${other}`,
      name: `localhost:${other}`,
      machine: `${machine}:${other}`,
      unspecified: `0.0.0.0:${other}`,
    };
    const script = `
      const net = require("node:net");
      const tunnel = (to) => new Promise((resolve) => {
        const socket = net.connect(3128, "127.0.0.1").on("error", (error) => resolve(error.code));
        socket.once("data", (bytes) => { resolve(String(bytes).split("\\r\\n")[0]); socket.destroy(); });
        socket.write("CONNECT " + to + " HTTP/1.1\\r\\nHost: " + to + "\\r\\n\\r\\n");
      });
      (async () => {
        const told = {};
        for (const [name, to] of Object.entries(${JSON.stringify(targets)})) told[name] = (await tunnel(to)).split(" ")[1];
        told.direct = await new Promise((resolve) => net.connect(${other}, "127.0.0.1").on("connect", () => resolve("connected")).on("error", (error) => resolve(error.code)));
        console.log(JSON.stringify(told));
      })();`;
    const { stdout, stderr } = await run(["node", "-e", script], { network: true });
    expect(stderr).toBe("");
    const [reached, refused] = ["200", "403"];
    const kept = { other: refused, database: refused, metadata: refused, mapped: refused, name: refused, machine: refused };
    expect(JSON.parse(stdout)).toEqual({ own: reached, ...kept, unspecified: refused, direct: "ECONNREFUSED" });

    const fetched = `(async () => { for (const url of process.argv.slice(1)) console.log((await (await fetch(url)).text()).trim()); })()`;
    const environment = { NO_PROXY: "", no_proxy: "" };
    const urls = [`http://127.0.0.1:${own}/`, `http://127.0.0.1:${other}/`];
    const plain = await run(["node", "-e", fetched, ...urls], { network: true, environment });
    expect(plain.stdout).toContain("the service\n");
    expect(plain.stdout).not.toContain("something else");
  });

  it("takes less than thirty times as long to start as a bare bwrap, in a cgroup or without", async () => {
    const times: Record<"bare" | "auto" | "off", number[]> = { bare: [], auto: [], off: [] };
    const time = async (of: keyof typeof times, act: () => unknown) => {
      const begin = performance.now();
      await act();
      times[of].push(performance.now() - begin);
    };
    for (let i = 0; i < 3; i++) {
      await time("bare", () => spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "sh", "-c", "true"]));
      for (const setting of ["auto", "off"] as const) {
        provideSettings({ JOBS_CGROUP: setting });
        await time(setting, () => run(sh("true")));
      }
    }
    const [bare = 0, auto = 0, off = 0] = [times.bare, times.auto, times.off].map((all) => all.sort((a, b) => a - b)[1]);
    const told = (ms: number) => `${ms.toFixed(0)} ms (${(ms / bare).toFixed(1)} times a bare bwrap)`;
    console.info(`a shell job: ${told(off)} without a cgroup, ${told(auto)} where one can be made`);
    expect(auto / bare).toBeLessThan(30);
    expect(off / bare).toBeLessThan(30);
  });
});
