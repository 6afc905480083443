import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { keptSecret } from "../crypto/kept-secret.ts";
import { createCluster, DATABASE, findBinaries, OWNER_ROLE, prepareDatabase, SERVICE_ROLE, SUPERUSER } from "./create-cluster.ts";
import { freePort } from "./free-port.ts";
import { findPostmaster, type Postmaster, stopPostmaster } from "./postmaster.ts";
import { findServerUser } from "./server-user.ts";

export type EmbeddedServer = {
  url: string;
  ownerUrl: string;
  superuserUrl: string;
  port: number;
  pid: number;
  /** Resolves when the process has ended, whether that was requested or not. */
  exited: Promise<void>;
  /** @param graceSeconds how long the server may take to write its state */
  stop(graceSeconds?: number): Promise<void>;
};

type Options = {
  /** False only for disposable data, which a crash of the machine may damage. */
  isDurable?: boolean;
  preferredPort?: number;
};

const LOG_BYTES = 5 * 1024 * 1024;
const START_TRIES = 5;
/** Some file systems have no sockets, for example a folder of macOS in a container. */
const TRIES_WITH_SOCKET = 2;
const READY_SECONDS = 120;

/** The caller must hold the data directory's lock. */
export async function startEmbedded(dataDir: string, { isDurable = true, preferredPort }: Options = {}): Promise<EmbeddedServer> {
  const cluster = join(dataDir, "postgres");
  const left = findPostmaster(cluster);
  if (left) await stopPostmaster(left.pid);

  const password = keptSecret(join(dataDir, "postgres-password"));
  const binaries = await findBinaries();
  const existing = existsSync(cluster) ? cluster : undefined;
  const user = findServerUser([binaries.postgres, binaries.share], dataDir, existing);
  await createCluster(cluster, password, { binaries, user, isDurable });

  for (let tried = 1; ; tried++) {
    const port = tried === 1 && preferredPort ? preferredPort : await freePort();
    const socketDirectory = tried <= TRIES_WITH_SOCKET && mayHaveSocket(cluster) ? resolve(cluster) : "";
    const logFile = join(dataDir, "postgres.log");
    const output = openLog(logFile);
    const child = user.spawn(binaries.postgres, ["-D", cluster, ...settings(port, socketDirectory, isDurable)], {
      // Ctrl-C at the terminal must not stop the database before the requests that still use it.
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
    });
    closeSync(output.fd);
    const exited = hasExited(child);
    const running = await becomesReady(cluster, child, exited);
    if (running) {
      const superuserUrl = urlOf(running, { role: SUPERUSER, password, database: "postgres" });
      await prepareDatabase(superuserUrl, { owner: password, service: servicePassword(dataDir) });
      const pid = child.pid as number;
      return {
        ...urlsOf(dataDir, running),
        superuserUrl,
        port,
        pid,
        exited,
        stop: (graceSeconds) => stopPostmaster(pid, graceSeconds),
      };
    }
    if (child.pid !== undefined) await stopPostmaster(child.pid);
    // Another process may have taken the port, or processes of a killed server may still be ending.
    if (tried === START_TRIES) {
      const lines = readFileSync(logFile, "utf8").slice(output.position).trim();
      throw new Error(`the database did not start; the last lines of its log (${logFile}):\n${lines}`);
    }
    await delay(500 * tried);
  }
}

export function findEmbedded(dataDir: string): EmbeddedUrls | undefined {
  const running = findPostmaster(join(dataDir, "postgres"));
  return running?.isReady ? urlsOf(dataDir, running) : undefined;
}

export type EmbeddedUrls = Pick<EmbeddedServer, "url" | "ownerUrl">;

function urlsOf(dataDir: string, running: Postmaster): EmbeddedUrls {
  const at = (role: string, password: string) => urlOf(running, { role, password, database: DATABASE });
  return {
    url: at(SERVICE_ROLE, servicePassword(dataDir)),
    ownerUrl: at(OWNER_ROLE, keptSecret(join(dataDir, "postgres-password"))),
  };
}

type Login = { role: string; password: string; database: string };

function urlOf({ port, socketDirectory }: Postmaster, { role, password, database }: Login): string {
  const host = socketDirectory && `?host=${encodeURIComponent(socketDirectory)}`;
  return `postgres://${role}:${password}@127.0.0.1:${port}/${database}${host}`;
}

/**
 * Statements over a Unix socket take a quarter less CPU time than over TCP. The path of a socket has at most 103 bytes. It must
 * not contain a comma, because this setting of the server is a list.
 */
const mayHaveSocket = (cluster: string): boolean => /^[\w./+-]{1,88}$/.test(resolve(cluster));

const servicePassword = (dataDir: string): string => keptSecret(join(dataDir, "postgres-service-password"));

const DISPOSABLE = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  max_connections: "300",
};

function settings(port: number, socketDirectory: string, isDurable: boolean): string[] {
  const values: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: socketDirectory,
    timezone: "UTC",
    log_timezone: "UTC",
    ...(isDurable ? {} : DISPOSABLE),
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** A log file that has become large is renamed, and replaces the one before. */
function openLog(path: string): { fd: number; position: number } {
  if (existsSync(path) && statSync(path).size > LOG_BYTES) renameSync(path, join(dirname(path), "postgres.log.1"));
  const fd = openSync(path, "a", 0o600);
  return { fd, position: statSync(path).size };
}

function hasExited(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
}

async function becomesReady(cluster: string, child: ChildProcess, exited: Promise<void>): Promise<Postmaster | undefined> {
  let isRunning = true;
  void exited.then(() => {
    isRunning = false;
  });
  for (const deadline = Date.now() + READY_SECONDS * 1_000; isRunning && Date.now() < deadline; await delay(25)) {
    const running = findPostmaster(cluster);
    if (running?.isReady && running.pid === child.pid) return running;
  }
  return undefined;
}
