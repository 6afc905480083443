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
/** More connections that wait for use would use up the worker's file descriptors. */
const OFFERS_MAX = 32;
const CONNECTIONS_MAX = REQUESTS_MAX + OFFERS_MAX;
/** A program that opens connections in a loop would take all of the worker's time (S132). */
const SPARE_MAX_PER_SECOND = 1_000;
const CONNECT_MS = 10_000;

/**
 * A sandbox has no network, so the bridge inside connects to the worker's socket and waits. The worker's first byte requests a
 * connection to the app, and the bridge's first byte reports the connection.
 */
export type AppConnector = {
  directory: string;
  through(port: number, command: readonly string[]): string[];
  opened: Promise<void>;
  flooded: Promise<void>;
  /** @throws Error with the code ECONNREFUSED if the app refuses */
  connect(): Promise<Duplex>;
  close(): void;
};

/** @param parent only this service may enter this directory, because anyone who reaches the socket can pose as the app */
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
    // The sandbox's user may differ from the worker's. The parent directory keeps all other users out.
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
