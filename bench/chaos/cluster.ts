import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DATABASE, OWNER_ROLE, prepareDatabase, SERVICE_ROLE } from "#core/postgres/create-cluster.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { findServerUser } from "#core/postgres/server-user.ts";

type Node = { name: string; postgresPort: number; apiPort: number; patroni?: ChildProcess };
type Member = { name: string; role: string; state: string };

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const PASSWORD = "for the bench only";
const NODES = ["anna", "bela", "carl"];
/** The shortest time to live that Patroni allows for the leader's lock. A frozen primary loses the lock after this time. */
const TTL_SECONDS = 20;

/** Starts a cluster in which a commit is confirmed when a standby has also written it. */
export async function startCluster() {
  execFileSync(process.execPath, ["scripts/setup.mjs", "--programs", "--failover"], { stdio: "inherit" });
  const directory = mkdtempSync(join(tmpdir(), "keyhook-cluster-"));
  // PostgreSQL does not run as root.
  chmodSync(directory, 0o755);
  const binaries = newestPostgres();
  const user = findServerUser([join(binaries, "postgres")], directory);
  const [etcdPort, etcdPeerPort, port] = [await freePort(), await freePort(), await freePort()];
  const nodes: Node[] = [];
  for (const name of NODES) nodes.push({ name, postgresPort: await freePort(), apiPort: await freePort() });

  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${etcdPeerPort}`;
  const others: ChildProcess[] = [];
  const start = (command: string, args: string[]) => others.push(spawn(command, args, { stdio: "ignore" }));
  start("/usr/bin/etcd", [
    "--enable-v2",
    ...["--data-dir", join(directory, "etcd"), "--listen-client-urls", etcdUrl, "--advertise-client-urls", etcdUrl],
    ...["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl, "--initial-cluster", `default=${peerUrl}`],
  ]);
  const proxy = join(directory, "haproxy.cfg");
  writeFileSync(proxy, proxySettings(port, nodes));
  start("/usr/sbin/haproxy", ["-db", "-f", proxy]);

  function startNode(node: Node): void {
    const file = join(directory, `${node.name}.json`);
    if (!node.patroni) {
      mkdirSync(join(directory, node.name));
      if (user.owner) chownSync(join(directory, node.name), user.owner.uid, user.owner.gid);
      writeFileSync(file, JSON.stringify(nodeSettings(node, { directory, binaries, etcdPort })), { mode: 0o644 });
    }
    node.patroni = user.spawn("/usr/bin/patroni", [file], { stdio: "ignore" });
  }

  function processesOf({ name, patroni }: Node): number[] {
    const postmaster = Number(readFileSync(join(directory, name, "data/postmaster.pid"), "utf8").split("\n")[0]);
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").split(" ");
    return [patroni?.pid as number, postmaster, ...children.map(Number)].filter(Boolean);
  }

  const signal = (node: Node, what: NodeJS.Signals) => {
    for (const pid of processesOf(node)) {
      try {
        process.kill(pid, what);
      } catch {} // the process ended meanwhile
    }
  };

  function kill(): void {
    for (const node of nodes) {
      // Patroni would start PostgreSQL again.
      node.patroni?.kill("SIGKILL");
      try {
        signal(node, "SIGKILL");
      } catch {} // the node's PostgreSQL does not run
    }
    for (const child of others) child.kill();
  }
  process.once("exit", kill);
  for (const what of ["SIGINT", "SIGTERM"] as const) process.once(what, () => process.exit(1));

  async function members(): Promise<Member[]> {
    for (const { apiPort } of nodes) {
      const answer = await fetch(`http://127.0.0.1:${apiPort}/cluster`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      );
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }

  async function primary(): Promise<Node> {
    const leader = (await members()).find(({ role }) => role === "leader");
    const node = nodes.find(({ name }) => name === leader?.name);
    if (!node) throw new Error("the cluster has no primary");
    return node;
  }

  async function untilHealthy(seconds = 120): Promise<void> {
    let found: Member[] = [];
    for (const deadline = Date.now() + seconds * 1_000; Date.now() < deadline; await delay(500)) {
      found = await members();
      const countOf = (wanted: string) => found.filter(({ role }) => role === wanted).length;
      const isRunning = found.every(({ state }) => state === "running" || state === "streaming");
      if (found.length === NODES.length && isRunning && countOf("leader") === 1 && countOf("sync_standby") === 1) return;
    }
    throw new Error(`the cluster did not become healthy: ${JSON.stringify(found)}`);
  }

  await delay(1_000); // until etcd is ready
  for (const node of nodes) startNode(node);
  const cluster = {
    async prepareDatabase() {
      const url = (role: string, name: string) => `postgres://${role}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`;
      await prepareDatabase(url("postgres", "postgres"), { owner: PASSWORD, service: PASSWORD });
      const [DATABASE_URL, DATABASE_OWNER_URL] = [url(SERVICE_ROLE, DATABASE), url(OWNER_ROLE, DATABASE)];
      return { DATABASE_URL, DATABASE_OWNER_URL, SECRET_KEY: `${PASSWORD} `.repeat(2) };
    },
    primary,
    untilHealthy,
    signal,
    startNode,
    async switchOver(): Promise<void> {
      const { name, apiPort } = await primary();
      const answer = await fetch(`http://127.0.0.1:${apiPort}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: name }),
      });
      if (!answer.ok) throw new Error(`switchover: ${await answer.text()}`);
    },
    async stop(): Promise<void> {
      kill();
      await Promise.all(others.map((child) => once(child, "exit")));
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await untilHealthy();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

function newestPostgres(): string {
  const [version] = readdirSync("/usr/lib/postgresql").sort((a, b) => Number(b) - Number(a));
  return `/usr/lib/postgresql/${version}/bin`;
}

type Places = { directory: string; binaries: string; etcdPort: number };

function nodeSettings({ name, postgresPort, apiPort }: Node, { directory, binaries, etcdPort }: Places) {
  const home = join(directory, name);
  const api = `127.0.0.1:${apiPort}`;
  const address = `127.0.0.1:${postgresPort}`;
  return {
    scope: "keyhook",
    name,
    restapi: { listen: api, connect_address: api },
    // Version 2 of the API. With version 3, a frozen node can take the leader's key away (github.com/patroni/patroni/pull/2689).
    etcd: { host: `127.0.0.1:${etcdPort}` },
    log: { dir: home, level: "INFO" },
    bootstrap: {
      dcs: {
        ttl: TTL_SECONDS,
        loop_wait: 4,
        retry_timeout: 5,
        // Does not wait for the primary's PostgreSQL to start again.
        master_start_timeout: 0,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, wal_keep_size: "1GB", wal_log_hints: "on", log_min_messages: "warning" },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(home, "data"),
      bin_dir: binaries,
      pgpass: join(home, "pgpass"),
      authentication: {
        superuser: { username: "postgres", password: PASSWORD },
        replication: { username: "replicator", password: PASSWORD },
        rewind: { username: "rewinder", password: PASSWORD },
      },
      parameters: { unix_socket_directories: home },
      pg_hba: [
        "local all all scram-sha-256",
        "host all all 127.0.0.1/32 scram-sha-256",
        "host replication replicator 127.0.0.1/32 scram-sha-256",
      ],
    },
  };
}

const proxySettings = (port: number, nodes: Node[]): string => `
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(({ name, postgresPort, apiPort }) => `  server ${name} 127.0.0.1:${postgresPort} check port ${apiPort}`).join("\n")}
`;
