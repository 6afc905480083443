import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { closeConnections } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { recordAtRate } from "./load.ts";
import { ask, type Outcome, rowOf } from "./measure.ts";
import { underLoad } from "./scenario.ts";
import type { ChaosService } from "./service.ts";
import { prepareTraffic } from "./traffic.ts";

const here = join(import.meta.dirname, "../..");
const KEPT = ["user", "organization", "repo", "oauth_app", "oauth_grant", "webhook", "delivery", "audit_event"];
const EVENTS_PER_SECOND = 50;
const START_SECONDS = 240;

/**
 * `npm run chaos -- upgrade COMMIT`: replaces the processes of an older version under load. Then it goes back, unless there is a
 * migration. Without `newRoot`, a copy of this file runs in a checkout of the old version, with this checkout as `newRoot`.
 */
export async function runUpgrade([commit, newRoot]: string[]): Promise<number> {
  if (!commit) throw new Error("Name the commit of the version to upgrade from: npm run chaos -- upgrade COMMIT");
  if (newRoot) {
    const outcome = await upgrade(here, newRoot);
    console.log(rowOf(`upgrade from ${commit}`, outcome));
    return outcome.faults.length > 0 ? 1 : 0;
  }
  // Not in node_modules/.cache, because Node.js does not strip types below node_modules.
  const oldRoot = join(tmpdir(), `keyhook-version-${commit}`);
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: oldRoot, stdio: "inherit" });
  if (!existsSync(oldRoot))
    execFileSync("git", ["worktree", "add", "--force", "--detach", oldRoot, commit], { stdio: "inherit" });
  if (!existsSync(join(oldRoot, "node_modules"))) run("npm", "ci");
  run(process.execPath, "scripts/setup.mjs", "--build");
  cpSync(join(here, "bench/chaos"), join(oldRoot, "bench/chaos"), { recursive: true });
  const child = spawn(process.execPath, ["bench/chaos/upgrade.ts", commit, here], { cwd: oldRoot, stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

async function upgrade(oldRoot: string, newRoot: string): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-upgrade-"));
  const database = await startEmbedded(directory);
  const port = await freePort();
  const settings = {
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    SECRET_KEY: "for the bench only ".repeat(2),
    DATA_DIR: join(directory, "data"),
    ORIGIN: `http://localhost:${port}`,
    OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1",
    WEBHOOK_TRIGGERS_PER_DAY: "1000000",
    LOG_LEVEL: "error",
  };
  provideSettings(settings);
  const started: Process[] = [];
  const start = async (root: string, only: "web" | "worker") => {
    const process = await startProcess(root, ["supervisor.ts", "--only", only], { ...settings, PORT: String(await freePort()) });
    started.push(process);
    return process;
  };
  try {
    await seedDemo(oldRoot, { ...settings, PORT: String(port) });
    const kept = await countRows(database.url);
    const balancer = await startBalancer(port);
    let [web, worker] = await Promise.all([start(oldRoot, "web"), start(oldRoot, "worker")]);
    balancer.add(web);
    const service = await serviceAt(settings.ORIGIN, database.url, () => started.map(({ output }) => output()).join(""));
    const traffic = await prepareTraffic(service);
    const end = traffic.start();
    let isOver = false;

    async function replace(root: string): Promise<void> {
      const nextWeb = await start(root, "web");
      balancer.add(nextWeb);
      await delay(10_000);
      balancer.remove(web);
      await web.stop();
      const nextWorker = await start(root, "worker");
      await delay(5_000);
      await worker.stop();
      [web, worker] = [nextWeb, nextWorker];
      await delay(5_000);
    }

    const isSameSchema =
      readdirSync(join(oldRoot, "prisma/migrations")).join() === readdirSync(join(newRoot, "prisma/migrations")).join();
    const outcome = await underLoad(service, {
      async load(repoId) {
        const recorded = new Map<string, number>();
        while (!isOver)
          for (const [id, at] of await recordAtRate(repoId, service.ownerId, EVENTS_PER_SECOND, 1)) recorded.set(id, at);
        return recorded;
      },
      async strike() {
        await replace(newRoot);
        if (isSameSchema) await replace(oldRoot);
        isOver = true;
        return { at: Date.now() };
      },
      async check() {
        const { note, faults } = await end();
        const now = await countRows(database.url);
        for (const [table, rows] of kept) if ((now.get(table) ?? 0) < rows) faults.push(`${table} lost rows`);
        if (!isSameSchema && !(await refusesToStart(oldRoot, settings)))
          faults.push("the old version started on the newer schema");
        return { note: `${isSameSchema ? "there and back" : "over migrations, so not back"}; ${note}`, faults };
      },
    });
    if (outcome.faults.length > 0) console.error(service.running.output().slice(-20_000));
    balancer.close();
    return outcome;
  } finally {
    await Promise.all(started.map((process) => process.stop()));
    await closeConnections();
    await database.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Process = Awaited<ReturnType<typeof startProcess>>;

async function startProcess(root: string, args: string[], settings: Record<string, string>, ready = "is ready:") {
  const { PATH, HOME } = process.env;
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH, HOME, ...settings } as unknown as NodeJS.ProcessEnv,
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (printed += chunk));
  const kill = () => void child.kill("SIGTERM");
  process.once("exit", kill);
  const exited = once(child, "exit").finally(() => process.off("exit", kill));
  for (const deadline = Date.now() + START_SECONDS * 1_000; !printed.includes(ready); await delay(100)) {
    if (child.exitCode === null && Date.now() < deadline) continue;
    kill();
    throw new Error(`${args.join(" ")} did not start in ${root}:\n${printed.slice(-4_000)}`);
  }
  return {
    port: Number(settings.PORT),
    output: () => printed,
    async stop() {
      kill();
      await exited;
    },
  };
}

async function seedDemo(root: string, settings: Record<string, string>): Promise<void> {
  const demo = await startProcess(root, ["scripts/demo.ts"], settings, "sign in as mara");
  await demo.stop();
}

async function refusesToStart(root: string, settings: Record<string, string>): Promise<boolean> {
  const started = await startProcess(root, ["supervisor.ts", "--only", "worker"], settings).catch(() => undefined);
  await started?.stop();
  return !started;
}

async function countRows(url: string): Promise<Map<string, number>> {
  const at = { databaseUrl: () => url } as ChaosService;
  const counts = new Map<string, number>();
  for (const table of KEPT) {
    const [row] = await ask<{ count: number }>(at, `select count(*)::int as count from "${table}"`);
    counts.set(table, row?.count ?? 0);
  }
  return counts;
}

/** Acts as a load balancer. A connection that a web process does not accept goes to another web process. */
async function startBalancer(port: number) {
  const targets: number[] = [];
  let turn = 0;
  const server = createServer((client) => {
    const order = targets.map((_, index) => targets[(turn + index) % targets.length] as number);
    turn++;
    const attempt = () => {
      const target = order.shift();
      if (!target) return void client.destroy();
      const upstream = connect(target, "127.0.0.1");
      upstream.once("connect", () => {
        upstream.off("error", attempt);
        upstream.on("error", () => client.destroy());
        client.pipe(upstream).pipe(client);
        client.once("close", () => upstream.destroy());
        upstream.once("close", () => client.destroy());
      });
      upstream.once("error", attempt);
    };
    client.on("error", () => undefined);
    attempt();
  });
  server.listen(port, "localhost");
  await once(server, "listening");
  return {
    add: ({ port: target }: Process) => void targets.push(target),
    remove: ({ port: target }: Process) => void targets.splice(targets.indexOf(target), 1),
    close: () => void server.close(),
  };
}

async function serviceAt(origin: string, url: string, output: () => string): Promise<ChaosService> {
  const person = { username: "ines", email: "ines@example.test", fullName: "Ines Roth", password: "a long enough passphrase" };
  const { id: ownerId } = await createUser(operatorCommand, person, noOrigin);
  const running = { origin, output } as ChaosService["running"];
  return { running, ownerId, databaseUrl: () => url } as ChaosService;
}

if (import.meta.main) process.exit(await runUpgrade(process.argv.slice(2)));
