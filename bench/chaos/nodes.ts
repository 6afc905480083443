import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { provideSettings } from "#core/env.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { embeddedSettings } from "#core/instance/data-dir.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { type EmbeddedServer, startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { type RunningService, startService, stopService } from "#core/testing/running-service.ts";
import { startPooler } from "#core/testing/start-pooler.ts";
import { startNameServer } from "./name-server.ts";
import { type ChaosService, createOwner } from "./service.ts";

export type ServiceNode = { name: string; kind: "web" | "worker"; settings: Record<string, string>; running?: RunningService };

export type Nodes = Awaited<ReturnType<typeof startNodes>>;

const KINDS = { anna: "web", bela: "web", carl: "web", dora: "worker", elsa: "worker" } as const;
const CONNECTIONS_MAX = 500;

type Options = {
  kinds?: Record<string, ServiceNode["kind"]>;
  /** The number of connections of a PgBouncer. Without a number there is no PgBouncer. */
  poolSize?: number | undefined;
  directory: string;
  port: number;
  settings?: Record<string, string>;
};

/** HAProxy sends consecutive requests to different nodes. Nodes share the folder of repositories, but not DATA_DIR. */
export async function runNodes({ kinds = KINDS, poolSize, directory, port, settings }: Options) {
  const programs = ["--programs", "--nodes", ...(poolSize ? ["--database"] : [])];
  execFileSync(process.execPath, ["scripts/setup.mjs", ...programs], { stdio: "inherit" });
  const database = await startDatabase(directory);
  const pooler = poolSize ? await startPooler(database.url, poolSize) : undefined;
  const bucket = await startBucket();
  const shared = {
    ...embeddedSettings(directory, database),
    ...(pooler && { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: database.url }),
    ...{ ORIGIN: `http://localhost:${port}`, TRUST_PROXY: "127.0.0.1", ...bucket.settings },
    ...{ OUTBOUND_ALLOW_CIDRS: "127.0.0.1", WEBHOOK_TRIGGERS_PER_DAY: "1000000", LOG_LEVEL: "error", ...settings },
  };
  const repositories = join(directory, "repositories");
  mkdirSync(repositories, { recursive: true });
  const nodes: ServiceNode[] = [];
  for (const [name, kind] of Object.entries(kinds)) {
    const DATA_DIR = join(directory, name);
    mkdirSync(DATA_DIR);
    symlinkSync(repositories, join(DATA_DIR, "repositories"));
    nodes.push({ name, kind, settings: { ...shared, DATA_DIR, PORT: String(await freePort()) } });
  }
  const output: (() => string)[] = [];
  async function start(node: ServiceNode): Promise<void> {
    node.running = await startService(node.settings, ["--only", node.kind]);
    output.push(node.running.output);
  }

  const kill = ({ running }: ServiceNode): number[] => (running ? killTree(running.process.pid as number) : []);

  let proxy: ChildProcess | undefined;
  process.once("exit", () => {
    for (const node of nodes) kill(node);
    proxy?.kill();
    void pooler?.stop();
    killNow(database.pid, "SIGQUIT");
  });

  const [first, ...others] = nodes as [ServiceNode, ...ServiceNode[]];
  await start(first);
  const file = join(directory, "haproxy.cfg");
  writeFileSync(file, proxySettings(port, nodes));
  proxy = spawn("/usr/sbin/haproxy", ["-db", "-f", file], { stdio: ["ignore", "pipe", "ignore"] });
  let failures = "";
  proxy.stdout?.on("data", (piece) => (failures += piece));
  output.push(() => failures);
  await Promise.all(others.map(start));

  return {
    nodes,
    shared,
    database,
    start,
    /** Kills a node and waits until all processes have ended, because until then the system accepts connections for the node. */
    kill: (node: ServiceNode): Promise<void> => untilEnded(kill(node)),
    output: () => output.map((each) => each()).join(""),
    failures: () => failures,
    async stop() {
      await Promise.all(nodes.map(({ running }) => running && stopService(running)));
      proxy?.kill();
      await pooler?.stop();
      await database.stop();
      await bucket.stop();
    },
  };
}

export async function startNodes(kinds?: Options["kinds"], poolSize?: number) {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-nodes-"));
  // PostgreSQL does not run as root.
  chmodSync(directory, 0o755);
  for (const what of ["SIGINT", "SIGTERM"] as const) process.once(what, () => process.exit(1));
  const cluster = await runNodes({ ...(kinds && { kinds }), poolSize, directory, port: await freePort() });
  const { shared, nodes, database } = cluster;
  provideSettings({ ...shared, DATA_DIR: directory });
  const instance = await openInstance();
  const service: ChaosService = {
    running: { ...(nodes[0]?.running as RunningService), origin: shared.ORIGIN, output: cluster.output },
    ownerId: await createOwner(),
    databaseUrl: () => database.url,
    nameServer: await startNameServer(),
    shiftClock: () => undefined,
    async stop() {
      service.nameServer.stop();
      await instance.close();
      await cluster.stop();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return { ...cluster, service };
}

/** PostgreSQL's default of 100 connections is not enough for so many processes. */
async function startDatabase(directory: string): Promise<EmbeddedServer> {
  const { superuserUrl, stop } = await startEmbedded(directory);
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(`alter system set max_connections = ${CONNECTIONS_MAX}`);
  await client.end();
  await stop();
  return startEmbedded(directory);
}

export function killTree(pid: number): number[] {
  const pids = processesBelow(pid);
  for (const each of pids) killNow(each);
  return pids;
}

export async function untilEnded(pids: number[]): Promise<void> {
  while (pids.some(isRunning)) await delay(5);
}

function processesBelow(pid: number): number[] {
  let children = "";
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  } catch {} // the process ended meanwhile
  return [pid, ...children.split(" ").map(Number).filter(Boolean).flatMap(processesBelow)];
}

/** A killed process becomes a zombie when its first thread ends. Its connections stay open until its last thread ends. */
function isRunning(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1 || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

export function killNow(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {} // the process ended meanwhile
}

/** Start of the wait, total time, time of the request, node, status, how the request ended, method, path. */
const FAILURE = "%Ts.%ms %Tt %Ta %s %ST %tsc %HM %HU";

/** The settings in docs/operations.md, with a log of failures. A client may name its address. */
const proxySettings = (port: number, nodes: ServiceNode[]): string => `
global
  log stdout format raw local0
defaults
  log global
  log-format "${FAILURE}"
  option dontlog-normal
  mode http
  timeout connect 2s
  timeout client 1900s
  timeout server 1900s
  timeout check 5s
  timeout http-keep-alive 60s
listen keyhook
  bind 127.0.0.1:${port}
  balance roundrobin
  http-request set-header X-Forwarded-For %[src] unless { req.hdr(X-Forwarded-For) -m found }
  http-request del-header X-Request-Id
  http-request del-header traceparent
  option httpchk GET /readyz
  option redispatch 1
  option abortonclose
  default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions
${nodes
  .filter(({ kind }) => kind === "web")
  .map(({ name, settings }) => `  server ${name} 127.0.0.1:${settings.PORT} check`)
  .join("\n")}
`;
