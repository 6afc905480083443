import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { devNull, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { tidy } from "#core/hub/git/maintenance/maintain-repository.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { type RunningService, startService, stopService } from "#core/testing/running-service.ts";
import { cpuSeconds } from "../cost.ts";
import { percentile } from "./measure.ts";
import { type MooseFs, type Mount, startMooseFs } from "./moosefs.ts";
import { killNow, killTree, untilEnded } from "./nodes.ts";
import { createOwner, OWNER, versions } from "./service.ts";

/** A web process and its folder of repositories. */
type Place = { name: string; folder: string; settings: Record<string, string>; mount?: Mount; running?: RunningService };
type Bench = {
  fs: MooseFs;
  disk: Place;
  anna: Place;
  bela: Place;
  directory: string;
  token: string;
  start(place: Place): Promise<void>;
};

const ROUNDS = 5;
const SECONDS = 25;
/**
 * Without this option, for a second a client believes that a deleted folder exists, and that a new folder of the same name does not
 * (docs/operations.md).
 */
const MOUNT_OPTIONS = "mfsdirentrycacheto=0";

const run = promisify(execFile);
const env = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" },
  ...{ GIT_AUTHOR_NAME: "Mara", GIT_AUTHOR_EMAIL: "mara@example.test" },
  ...{ GIT_COMMITTER_NAME: "Mara", GIT_COMMITTER_EMAIL: "mara@example.test" },
};
const git = async (directory: string, ...args: string[]) =>
  (await run("git", ["-C", directory, ...args], { env, maxBuffer: 1 << 26 })).stdout.trim();

/**
 * `npm run chaos -- filesystem [OPTIONS]`: tests repositories on MooseFS. First it compares MooseFS with the local disk. Then two web
 * processes, each with its own mount, receive pushes to the same repositories while something fails.
 *
 * @param options options of the mounts, instead of the ones that docs/operations.md recommends
 * @returns the exit status: 1 if a requirement failed
 */
export async function runFilesystem([options = MOUNT_OPTIONS]: string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-filesystem-"));
  chmodSync(directory, 0o755); // PostgreSQL does not run as root
  for (const what of ["SIGINT", "SIGTERM"] as const) process.once(what, () => process.exit(1));
  mkdirSync(join(directory, "database"));
  const fs = await startMooseFs(join(directory, "moosefs"));
  const database = await startEmbedded(join(directory, "database"));
  const places: Place[] = [];
  // Runs after a failure too. moosefs.ts unmounts the file system first.
  process.once("exit", () => {
    for (const { running } of places) if (running) killTree(running.process.pid as number);
    killNow(database.pid, "SIGQUIT");
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  const shared = {
    ...{ DATABASE_URL: database.url, DATABASE_OWNER_URL: database.ownerUrl, SECRET_KEY: "for the bench only ".repeat(2) },
    ...{ ORIGIN: "http://localhost:3000", LOG_LEVEL: "error" },
  };
  const addPlace = async (name: string, mount?: Mount): Promise<Place> => {
    const DATA_DIR = join(directory, name);
    const folder = mount?.path ?? join(directory, "local");
    mkdirSync(DATA_DIR);
    mkdirSync(join(folder, "repositories"), { recursive: true });
    symlinkSync(join(folder, "repositories"), join(DATA_DIR, "repositories"));
    const place = { name, folder, settings: { ...shared, DATA_DIR, PORT: String(await freePort()) }, ...(mount && { mount }) };
    places.push(place);
    return place;
  };
  const start = async (place: Place) => {
    place.running = await startService(place.settings, ["--only", "web"]);
  };
  const disk = await addPlace("disk");
  const [anna, bela] = [await addPlace("anna", await fs.add("a", options)), await addPlace("bela", await fs.add("b", options))];
  // The first process migrates the database.
  await start(disk);
  await Promise.all([start(anna), start(bela)]);
  provideSettings({ ...shared, DATA_DIR: bela.settings.DATA_DIR as string });
  const instance = await openInstance();
  const input = { name: "bench", scopes: ["write-repos"], expiresInDays: 1 } as const;
  const { token } = await createPersonalAccessToken(
    operatorCommand,
    await createOwner(),
    { ...input, scopes: [...input.scopes] },
    noOrigin,
  );
  const bench = { fs, disk, anna, bela, directory, token, start };
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${versions()}, MooseFS with ${options}; load average ${busy()} at the start\n`,
  );
  await compare(bench);
  const hasPassed = await strikeAll(bench);
  console.log(`\nload average ${busy()} at the end`);
  await Promise.all(places.map(({ running }) => running && stopService(running)));
  await instance.close();
  await database.stop();
  return hasPassed ? 0 : 1;
}

const busy = (): string =>
  loadavg()
    .map((each) => each.toFixed(1))
    .join(", ");
const newRepo = (name: string) => createRepo(operatorCommand, { type: "model", owner: OWNER.username, name }, noOrigin);
const originOf = ({ settings }: Place): string => `http://localhost:${settings.PORT}`;
const remoteOf = (place: Place, { fullName }: Repo, { token }: Bench): string =>
  Object.assign(new URL(`${originOf(place)}/${fullName}`), { username: OWNER.username, password: token }).href;

/** Compares the local disk and MooseFS. They take turns, so that both see the same state of the machine. */
async function compare(bench: Bench): Promise<void> {
  const copy = join(bench.directory, "copy");
  await run("git", ["init", "--quiet", "--initial-branch=main", copy], { env });
  const commit = async () => {
    writeFileSync(join(copy, "tides.bin"), randomBytes(1024 * 1024));
    await git(copy, "add", "--all");
    await git(copy, "commit", "--quiet", "-m", "tides");
  };
  await commit();
  const sides = [];
  for (const place of [bench.disk, bench.anna]) {
    const repo = await newRepo(`compared-${place.name}`);
    const remote = remoteOf(place, repo, bench);
    await git(copy, "push", "--quiet", remote, "main");
    const into = join(bench.directory, `clone-${place.name}`);
    const actions: Record<string, (round: number) => Promise<unknown>> = {
      "push of 1 MB": (round) => git(copy, "push", "--quiet", remote, `HEAD:refs/heads/round-${round}`),
      "clone of 1 MB": () =>
        run("git", ["clone", "--quiet", "--bare", "--single-branch", "--branch=main", remote, into], { env }),
      "ls-remote": () => git(copy, "ls-remote", remote),
      "commit by the API": (round) => commitOverApi(place, repo, bench, `${round}`),
      "page of a repository": () => requireOk(fetch(`${originOf(place)}/${repo.fullName}`)),
    };
    const pids = () => [place.running?.process.pid as number, ...(place.mount ? bench.fs.pids() : [])];
    sides.push({
      actions,
      pids,
      into,
      times: new Map<string, number[]>(),
      cpu: new Map<string, number>(),
      operations: new Map<string, number>(),
      place,
    });
  }
  for (let round = 0; round <= ROUNDS; round++) {
    await git(copy, "checkout", "--quiet", "--detach", "main");
    await commit();
    for (const what of Object.keys(sides[0]?.actions ?? {})) {
      for (const { actions, pids, into, times, cpu, operations, place } of sides) {
        const [before, asked, from] = [cpuOf(pids()), operationsOf(place), performance.now()];
        await actions[what]?.(round);
        const seconds = (performance.now() - from) / 1_000;
        rmSync(into, { recursive: true, force: true });
        // The first round fills caches and compiles code.
        if (round === 0) continue;
        times.set(what, [...(times.get(what) ?? []), seconds]);
        cpu.set(what, (cpu.get(what) ?? 0) + cpuOf(pids()) - before);
        operations.set(what, (operations.get(what) ?? 0) + operationsOf(place) - asked);
      }
    }
  }
  const [disk, shared] = sides as [(typeof sides)[number], (typeof sides)[number]];
  console.log(
    "| | Local disk | MooseFS | Ratio | CPU, local disk | CPU, MooseFS | Ratio | File operations |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  );
  for (const [what, times] of disk.times) {
    const pair = [percentile(times, 0.5), percentile(shared.times.get(what) ?? [], 0.5)] as const;
    const cpu = [disk, shared].map((side) => (side.cpu.get(what) ?? 0) / ROUNDS) as [number, number];
    const cells = ([one, other]: readonly [number, number]) => [ms(one), ms(other), (other / one).toFixed(1)];
    console.log(
      `| ${[what, ...cells(pair), ...cells(cpu), Math.round((shared.operations.get(what) ?? 0) / ROUNDS)].join(" | ")} |`,
    );
  }
}

/** How many operations the kernel has requested from the client of a mount so far. */
const operationsOf = ({ mount }: Place): number =>
  mount ? Number(/^fuse_ops: (\d+)$/m.exec(readFileSync(join(mount.path, ".stats"), "utf8"))?.[1]) : 0;

const ms = (seconds: number): string => `${Math.round(seconds * 1_000)} ms`;
const cpuOf = (pids: number[]): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);

async function requireOk(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 300)}`);
  return text;
}

async function commitOverApi(place: Place, { fullName }: Repo, { token }: Bench, content: string): Promise<string> {
  const lines = [
    { key: "header", value: { summary: "Tides" } },
    { key: "file", value: { path: "tides.txt", content, encoding: "utf-8" } },
  ];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  const text = await requireOk(fetch(`${originOf(place)}/api/models/${fullName}/commit/main`, { method: "POST", headers, body }));
  return (JSON.parse(text) as { commitOid: string }).commitOid;
}

/** Pushes through both nodes, to the same repository and to one repository each, while faults happen one after another. */
async function strikeAll(bench: Bench): Promise<boolean> {
  const { fs, anna, bela, start } = bench;
  const again = async (server: MooseFs["master"]) => {
    await delay(5_000);
    if (server.process?.pid) await untilEnded(killTree(server.process.pid));
    await delay(5_000);
    fs.start(server);
    await delay(SECONDS * 1_000 - 10_000);
  };
  const strikes: [name: string, mayFail: boolean, strike: (repos: Repo[]) => Promise<unknown>][] = [
    ["two nodes push", false, () => delay(SECONDS * 1_000)],
    ["maintenance at one node", false, (repos) => maintain(bench, repos)],
    [
      "a node killed with its mount in pushes (kill -9), three times",
      true,
      async () => {
        for (let time = 0; time < 3; time++) {
          await delay(4_000 + 1_000 * Math.random());
          const pids = killTree(anna.running?.process.pid as number);
          fs.lose(anna.mount as Mount);
          await untilEnded(pids);
          await fs.mount(anna.mount as Mount);
          await start(anna);
        }
      },
    ],
    ["a chunk server killed, and started again", true, () => again(fs.chunkServers[1] as MooseFs["master"])],
    ["the master killed, and started again", true, () => again(fs.master)],
  ];
  console.log(
    "\n| Fault | Acknowledged | Lost | Without an event | Not seen by the other node | Reads | Failed | |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
  );
  let hasPassed = true;
  for (const [index, [name, mayFail, strike]] of strikes.entries()) {
    const traffic = await startTraffic(bench, index);
    await strike(traffic.repos);
    const { confirmed, lost, silent, unseen, reads, failures, broken } = await traffic.end();
    const faults = [
      ...(lost > 0 ? [`${lost} lost`] : []),
      ...(silent > 0 ? [`${silent} without an event`] : []),
      ...(unseen > 0 ? [`${unseen} not seen`] : []),
      ...(failures.length > 0 && !mayFail ? [`${failures.length} failed`] : []),
      ...(confirmed === 0 ? ["nothing was pushed"] : []),
      ...broken,
    ];
    if (faults.length > 0) hasPassed = false;
    if (failures.length > 0)
      console.error(Object.fromEntries([...Map.groupBy(failures, (text) => text)].map(([text, { length }]) => [text, length])));
    if (faults.length > 0) for (const { running } of [anna, bela]) console.error(running?.output().slice(-5_000));
    const word = faults.length > 0 ? `**failed: ${faults.join("; ")}**` : "passed";
    console.log(`| ${[name, confirmed, lost, silent, unseen, reads, failures.length, word].join(" | ")} |`);
  }
  return hasPassed;
}

const LONG_AGO = new Date(Date.now() - 30 * 24 * 60 * 60 * 1_000);
const pathAt = ({ settings }: Place, { id }: Repo): string =>
  join(settings.DATA_DIR as string, "repositories", id.slice(-2), `${id}.git`);

/** Runs git's garbage collection in each repository repeatedly, through the second node's mount, as a worker does once a week. */
async function maintain({ bela }: Bench, repos: Repo[]): Promise<void> {
  const end = Date.now() + SECONDS * 1_000;
  for (let nth = 0; Date.now() < end; nth++) {
    const path = pathAt(bela, repos[nth % repos.length] as Repo);
    rmSync(join(path, "keyhook-collected"), { force: true });
    // Makes the repository look old, because it is collected only a week after it was created.
    await utimes(join(path, "config"), LONG_AGO, LONG_AGO);
    await tidy(path);
    await delay(500);
  }
}

/** Actions in which two clients change the same branch, so that the second one is refused and must begin again. */
const SHARED = /same branch|API/;
const REJECTED = /\[rejected\]|\[remote rejected\]|conflict|409|412/;

/** Clients of both nodes, which push, commit and read until `end`, and repeat failed actions. */
async function startTraffic(bench: Bench, index: number) {
  const { anna, bela } = bench;
  const directory = mkdtempSync(join(bench.directory, "traffic-"));
  const names = ["both", "anna", "bela", "api"];
  const repos = await Promise.all(names.map((name) => newRepo(`${name}-${index}`)));
  const [both, ofAnna, ofBela, byApi] = repos as [Repo, Repo, Repo, Repo];
  const traffic = {
    isOver: false,
    unseen: 0,
    reads: 0,
    failures: [] as string[],
    confirmed: [] as { repo: Repo; sha: string }[],
  };

  const repeat = async (what: string, action: (nth: number) => Promise<void>) => {
    for (let nth = 0; !traffic.isOver; nth++)
      await action(nth).catch((error: Error & { stderr?: string }) => {
        const text = (error.stderr || String(error.cause ?? error.message)).replaceAll(/[0-9a-f]{12,}|localhost:\d+/g, "…");
        if (!(SHARED.test(what) && REJECTED.test(text))) traffic.failures.push(`${what}: ${text.trim().slice(-400)}`);
        return delay(200);
      });
  };
  const makeCopy = async (name: string): Promise<string> => {
    const copy = join(directory, name);
    await run("git", ["init", "--quiet", "--initial-branch=main", copy], { env });
    await git(copy, "commit", "--quiet", "--allow-empty", "-m", "first");
    return copy;
  };

  /** Pushes to a repository that no other client uses. The folder of the second branch is created and deleted with that branch. */
  async function pushOwn(place: Place, other: Place, repo: Repo): Promise<(nth: number) => Promise<void>> {
    const copy = await makeCopy(repo.name);
    const [here, there] = [remoteOf(place, repo, bench), remoteOf(other, repo, bench)];
    // The first branch becomes the default branch, which cannot be deleted.
    await git(copy, "push", "--quiet", here, "HEAD:refs/heads/main");
    return async (nth: number) => {
      await git(copy, "commit", "--quiet", "--allow-empty", "-m", "tides");
      const sha = await git(copy, "rev-parse", "HEAD");
      const topic = `refs/heads/topics/${nth}`;
      await git(copy, "push", "--quiet", here, `HEAD:${topic}`);
      traffic.confirmed.push({ repo, sha });
      const seen = await git(copy, "ls-remote", there, topic);
      if (!seen.startsWith(sha)) traffic.unseen++;
      await git(copy, "push", "--quiet", here, "HEAD:refs/heads/main");
      await Promise.all([git(copy, "push", "--quiet", here, `:${topic}`), git(copy, "ls-remote", there)]);
    };
  }

  /** Pushes to a branch to which the other node's client also pushes. If that client was first, continues from its commit. */
  async function pushShared(place: Place): Promise<() => Promise<void>> {
    const copy = await makeCopy(`both-${place.name}`);
    const remote = remoteOf(place, both, bench);
    return async () => {
      const tip = (await git(copy, "ls-remote", remote, "refs/heads/main")).slice(0, 40);
      if (tip) {
        await git(copy, "fetch", "--quiet", remote, "main");
        await git(copy, "reset", "--quiet", "--hard", "FETCH_HEAD");
      }
      await git(copy, "commit", "--quiet", "--allow-empty", "-m", `tides of ${place.name} ${Date.now()}`);
      await git(copy, "push", "--quiet", remote, "HEAD:refs/heads/main");
      traffic.confirmed.push({ repo: both, sha: await git(copy, "rev-parse", "HEAD") });
    };
  }

  const commit = (place: Place) => async (nth: number) => {
    const sha = await commitOverApi(place, byApi, bench, `${place.name} ${nth}`);
    traffic.confirmed.push({ repo: byApi, sha });
  };

  async function read(nth: number): Promise<void> {
    const repo = repos[nth % repos.length] as Repo;
    const into = join(directory, `clone-${nth}`);
    await run("git", ["clone", "--quiet", "--bare", remoteOf(anna, repo, bench), into], { env });
    await git(into, "fsck", "--full");
    rmSync(into, { recursive: true });
    await requireOk(fetch(`${originOf(anna)}/${repo.fullName}`));
    traffic.reads++;
  }

  const actions = {
    "push by one node": await pushOwn(anna, bela, ofAnna),
    "push by the other node": await pushOwn(bela, anna, ofBela),
    "push to the same branch by one node": await pushShared(anna),
    "push to the same branch by the other node": await pushShared(bela),
    "commit by one node's API": commit(anna),
    "commit by the other node's API": commit(bela),
    read,
  };
  const running = Promise.all(Object.entries(actions).map(([what, action]) => repeat(what, action)));
  return {
    repos,
    async end() {
      traffic.isOver = true;
      await running;
      const broken: string[] = [];
      const [kept, events] = [new Set<string>(), new Set<string>()];
      for (const repo of repos) {
        const path = pathAt(bela, repo);
        await git(path, "fsck", "--full").catch((error: Error) => broken.push(`fsck: ${error.message.slice(-200)}`));
        for (const sha of (await git(path, "rev-list", "--all")).split("\n")) kept.add(sha);
        const { rows } = await pool().query<{ sha: string }>(
          `select ref ->> 'newSha' as sha from event, jsonb_array_elements(payload::jsonb -> 'updatedRefs') as ref where repo_id = $1`,
          [repo.id],
        );
        for (const { sha } of rows) events.add(sha);
      }
      const count = (has: Set<string>) => traffic.confirmed.filter(({ sha }) => !has.has(sha)).length;
      rmSync(directory, { recursive: true, force: true });
      return { ...traffic, confirmed: traffic.confirmed.length, lost: count(kept), silent: count(events), broken };
    },
  };
}
