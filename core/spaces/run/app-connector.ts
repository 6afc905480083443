import { chmod, copyFile, mkdir } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { SOCKET_DIRECTORY } from "../../jobs/runners/runner.ts";
import { sourcePath } from "../../source-path.ts";
import { REQUESTS_MAX } from "../gateway/start-gateway.ts";

const SOCKET = "door.sock";
const BRIDGE = "bridge.mjs";
const OPEN = Buffer.from([1]);
/**
 * A bridge offers eight connections at a time. Connections of a sandbox beyond this limit would use up the worker's file descriptors, and
 * are closed.
 */
const OFFERS_MAX = 32;
/** Concurrent requests, plus the offers. */
const CONNECTIONS_MAX = REQUESTS_MAX + OFFERS_MAX;
/**
 * How many connections may arrive in a second beyond those that are used. A bridge replaces each used one; a program that opens them in a
 * loop would take all of the worker's time (S132).
 */
const SPARE_MAX_PER_SECOND = 1_000;
/** How long a request waits for a connection, or for the app to accept it. */
const CONNECT_MS = 10_000;

/**
 * How requests reach an app in a sandbox that has no network and must not write to this machine's disk. The worker listens and the sandbox
 * connects, through a socket in a directory mounted read-only, which allows connecting but not writing.
 *
 * The bridge inside opens a few connections and waits. The worker takes one and sends a byte; the bridge connects to the app and answers
 * with a byte, and from then on passes everything on. If the connection closes before that byte, the app refused it, and nothing of the
 * request was sent.
 */
export type AppConnector = {
  /** A directory mounted read-only in the sandbox at `SOCKET_DIRECTORY`. */
  directory: string;
  /** The command line to run in the sandbox, so that `command`, which listens on `port`, is reached through the door. */
  through(port: number, command: readonly string[]): string[];
  /** Resolves once the app listens. */
  opened: Promise<void>;
  /** Resolves when the sandbox opens too many connections; then it can open no more. */
  flooded: Promise<void>;
  /** A connection to the app. @throws an error with the code ECONNREFUSED if the app refuses it */
  connect(): Promise<Duplex>;
  close(): void;
};

/** @param parent a directory that only this service may enter: anyone who reaches the socket can pose as the app */
export async function openAppConnector(parent: string, spareMaxPerSecond = SPARE_MAX_PER_SECOND): Promise<AppConnector> {
  const directory = join(parent, "door");
  await mkdir(directory);
  await copyFile(sourcePath("core/spaces/run/bridge.mjs"), join(directory, BRIDGE));
  const offered = new Set<Socket>();
  const connected = new Set<Socket>();
  const awaited: ((socket: Socket) => void)[] = [];
  const opened = Promise.withResolvers<void>();
  const flooded = Promise.withResolvers<void>();
  let isClosed = false;
  let [spare, secondEndsAt] = [0, 0];

  function countSpare(): void {
    const now = performance.now();
    if (now >= secondEndsAt) [spare, secondEndsAt] = [0, now + 1_000];
    spare++;
    if (spare <= spareMaxPerSecond) return;
    server.close();
    flooded.resolve();
  }

  const server = createServer((socket) => {
    countSpare();
    connected.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => connected.delete(socket));
    opened.resolve();
    const next = awaited.shift();
    if (next) return next(socket);
    if (offered.size >= OFFERS_MAX) return void socket.destroy();
    offered.add(socket);
    socket.once("close", () => offered.delete(socket));
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on("drop", countSpare);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // The sandbox's user may differ from the worker's: the parent directory keeps all others out.
    server.listen({ path: join(directory, SOCKET), readableAll: true, writableAll: true }, resolve);
  });
  await chmod(directory, 0o755);

  async function take(signal: AbortSignal): Promise<Socket> {
    spare--;
    for (const socket of offered) {
      offered.delete(socket);
      if (!socket.destroyed) return socket;
    }
    if (isClosed) throw refused();
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    awaited.push(resolve);
    signal.addEventListener("abort", () => {
      const at = awaited.indexOf(resolve);
      if (at >= 0) awaited.splice(at, 1);
      reject(refused());
    });
    return promise;
  }

  const closing = new AbortController();
  return {
    directory,
    through: (port, command) => [
      "node",
      `${SOCKET_DIRECTORY}/${BRIDGE}`,
      String(port),
      `${SOCKET_DIRECTORY}/${SOCKET}`,
      ...command,
    ],
    opened: opened.promise,
    flooded: flooded.promise,
    async connect() {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CONNECT_MS)]);
      const socket = await take(signal);
      await accepted(socket, signal);
      return socket;
    },
    close() {
      isClosed = true;
      closing.abort();
      server.close();
      for (const socket of connected) socket.destroy();
    },
  };
}

/** Resolves once the app has accepted the connection. */
function accepted(socket: Socket, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onByte = () => {
    if (socket.read(1) === null) return;
    end();
    resolve();
  };
  const fail = () => {
    end();
    socket.destroy();
    reject(refused());
  };
  const end = () => {
    socket.off("readable", onByte).off("close", fail).off("end", fail);
    signal.removeEventListener("abort", fail);
  };
  socket.on("readable", onByte).once("close", fail).once("end", fail);
  signal.addEventListener("abort", fail);
  if (signal.aborted || socket.destroyed) fail();
  else socket.write(OPEN);
  return promise;
}

const refused = () => Object.assign(new Error("The app does not accept connections."), { code: "ECONNREFUSED" });
