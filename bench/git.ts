import { execFile, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { freePort } from "#core/postgres/free-port.ts";
import type { Target } from "./targets.ts";

/** Compares clone and push of one large repository with git's own CGI program behind nginx, and measures many small pushes. */
const FILES = 60;
const FILE_BYTES = 1024 * 1024;
const ROUNDS = 3;
const SMALL_PUSHES = Number(process.env.BENCH_SMALL_PUSHES ?? 200);
const SMALL_PUSH_LANES = 4;
const BACKEND = "/usr/lib/git-core/git-http-backend";

const run = promisify(execFile);
const environment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "Mara"],
      [`GIT_${who}_EMAIL`, "mara@example.test"],
    ]),
  ),
};
const git = (directory: string, ...args: string[]) => run("git", args, { cwd: directory, env: environment, maxBuffer: 1 << 26 });

type Host = { name: string; makeRemote(name: string): Promise<string>; stop(): Promise<void> };

export async function benchGit(target: Target): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-git-"));
  const hosts = [await serviceHost(target), await nginxHost(directory)].filter((host) => host !== undefined);
  try {
    const source = await makeSource(join(directory, "source"));
    const [ours, theirs] = await compare(directory, source, hosts);
    const line = (what: string, pick: (times: Times) => number) => {
      const own = pick(ours as Times);
      const ratio = theirs
        ? `ratio ${(pick(theirs) / own).toFixed(2)} (aim ≥ 0.8), http-backend behind nginx ${pick(theirs).toFixed(2)} s`
        : "no nginx and fcgiwrap here to compare with";
      console.log(`git ${what} of ${FILES} MiB: ${own.toFixed(2)} s, ${ratio}`);
    };
    line("push", ({ push }) => push);
    line("clone", ({ clone }) => clone);
    await pushMany(directory, hosts[0] as Host);
    console.log(`memory of the web process at its most: ${peakMegabytes(target.pid)} MB (aim < 250)`);
  } finally {
    for (const host of hosts) await host.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Times = { push: number; clone: number };

async function compare(directory: string, source: string, hosts: Host[]): Promise<Times[]> {
  const times = hosts.map(() => ({ push: [] as number[], clone: [] as number[] }));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, host] of hosts.entries()) {
      const url = await host.makeRemote(`large-${round}`);
      const push = await secondsOf(() => git(source, "push", "--quiet", url, "main"));
      const into = join(directory, `clone-${index}-${round}`);
      const clone = await secondsOf(() => git(directory, "clone", "--quiet", "--bare", url, into));
      const [pushed, cloned] = await Promise.all([git(source, "rev-parse", "main"), git(into, "rev-parse", "main")]);
      if (pushed.stdout !== cloned.stdout) throw new Error(`${host.name} returned a different commit`);
      rmSync(into, { recursive: true });
      if (round > 0) {
        times[index]?.push.push(push);
        times[index]?.clone.push(clone);
      }
    }
  }
  return times.map(({ push, clone }) => ({ push: median(push), clone: median(clone) }));
}

async function pushMany(directory: string, host: Host): Promise<void> {
  const before = await db().event.count({ where: { scope: "repo.content" } });
  const each = Math.ceil(SMALL_PUSHES / SMALL_PUSH_LANES);
  const lanes = await Promise.all(
    Array.from({ length: SMALL_PUSH_LANES }, async (_, lane) => {
      const copy = join(directory, `small-${lane}`);
      mkdirSync(copy);
      await git(copy, "init", "--quiet", "--initial-branch=main");
      return { copy, url: await host.makeRemote(`small-${lane}`) };
    }),
  );
  const seconds = await secondsOf(() =>
    Promise.all(
      lanes.map(async ({ copy, url }) => {
        for (let pushed = 0; pushed < each; pushed++) {
          await git(copy, "commit", "--quiet", "--allow-empty", "-m", `${pushed}`);
          await git(copy, "push", "--quiet", url, "main");
        }
      }),
    ),
  );
  const count = each * SMALL_PUSH_LANES;
  const events = (await db().event.count({ where: { scope: "repo.content" } })) - before;
  if (events !== count) throw new Error(`${count} pushes were recorded as ${events} events`);
  console.log(`${count} small pushes, ${SMALL_PUSH_LANES} at a time: ${(count / seconds).toFixed(1)}/s, each one event`);
}

async function serviceHost({ origin }: Target): Promise<Host> {
  const { id } = await db().user.findFirstOrThrow({ where: { username: "mara" } });
  const input = { name: "bench", scopes: ["write-repos"], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(operatorCommand, id, input, noOrigin);
  return {
    name: "the service",
    async makeRemote(name) {
      const repo = await createRepo(operatorCommand, { type: "model", owner: "mara", name }, noOrigin);
      const url = new URL(`${origin}/${repo.fullName}`);
      Object.assign(url, { username: "mara", password: token });
      return url.href;
    },
    stop: async () => undefined,
  };
}

/** The returned function makes the commits, and returns another function that pushes them. */
export async function preparePushes(target: Target, directory: string, lanes: number, bytes: number) {
  const host = await serviceHost(target);
  const copies = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const copy = mkdtempSync(join(directory, "copy-"));
      await git(copy, "init", "--quiet", "--initial-branch=main");
      return { copy, url: await host.makeRemote(`pushed-${lane}`) };
    }),
  );
  return async (count: number): Promise<() => Promise<unknown>> => {
    const pushes = copies.map(async ({ copy, url }) => {
      const commits: string[] = [];
      while (commits.length < count / lanes) {
        writeFileSync(join(copy, "tides.bin"), randomBytes(bytes));
        await git(copy, "add", "--all");
        await git(copy, "commit", "--quiet", "-m", "Tides");
        commits.push((await git(copy, "rev-parse", "HEAD")).stdout.trim());
      }
      return async () => {
        for (const commit of commits) await git(copy, "push", "--quiet", url, `${commit}:refs/heads/main`);
      };
    });
    const prepared = await Promise.all(pushes);
    return () => Promise.all(prepared.map((push) => push()));
  };
}

/** Returns undefined if nginx or the CGI program is not installed. */
async function nginxHost(directory: string): Promise<Host | undefined> {
  const has = (program: string) => spawnSync(program, ["-h"], { stdio: "ignore" }).error === undefined;
  if (!existsSync(BACKEND) || !has("nginx") || !has("fcgiwrap")) return undefined;
  const root = join(directory, "nginx");
  mkdirSync(root);
  const port = await freePort();
  const socket = join(root, "fcgi");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${root}/${kind};`)
    .join(" ");
  writeFileSync(
    join(root, "nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${root}/pid; error_log ${root}/error.log; worker_processes 2;
    events {} http { access_log off; ${temporary} client_max_body_size 0;
    server { listen 127.0.0.1:${port}; location / {
      fastcgi_pass unix:${socket}; fastcgi_param SCRIPT_FILENAME ${BACKEND}; fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_PROJECT_ROOT ${root}/git; fastcgi_param PATH_INFO $uri; fastcgi_param REMOTE_USER mara;
      fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding; fastcgi_param GIT_PROTOCOL $http_git_protocol; } } }\n`,
  );
  const children = [
    spawn("fcgiwrap", ["-c", "4", "-s", `unix:${socket}`], { env: environment, stdio: "ignore", detached: true }),
    spawn("nginx", ["-p", root, "-c", join(root, "nginx.conf")], { stdio: "ignore", detached: true }),
  ];
  // Kills the process groups, because the processes that fcgiwrap started would otherwise stay.
  const stop = () => {
    for (const { pid } of children.splice(0)) if (pid) process.kill(-pid);
  };
  process.once("exit", stop);
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    name: "http-backend behind nginx",
    async makeRemote(name) {
      const path = join(root, "git", `${name}.git`);
      mkdirSync(path, { recursive: true });
      await git(path, "init", "--quiet", "--bare", "--initial-branch=main");
      return `http://127.0.0.1:${port}/${name}.git`;
    },
    stop: async () => stop(),
  };
}

async function makeSource(source: string): Promise<string> {
  mkdirSync(source);
  await git(source, "init", "--quiet", "--initial-branch=main");
  for (let index = 0; index < FILES; index++) writeFileSync(join(source, `file-${index}.bin`), randomBytes(FILE_BYTES));
  await git(source, "add", "--all");
  await git(source, "commit", "--quiet", "-m", "Sixty files");
  return source;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function peakMegabytes(supervisor: number): string {
  for (const pid of existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const isOurs = new RegExp(`^PPid:\\s+${supervisor}$`, "m").test(status);
      if (!isOurs || !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("server.ts")) continue;
      return (Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024).toFixed(0);
    } catch {
      // The process has ended.
    }
  }
  return "?";
}
