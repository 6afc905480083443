import { readdir, readFile } from "node:fs/promises";
import { createServer, type Http2Session } from "node:http2";
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import { Duplex, duplexPair, Readable } from "node:stream";
import type Docker from "dockerode";
import { sourcePath } from "../../../source-path.ts";
import { IDLE_MS, openEgressProxy, PROXY_PORT } from "../egress-proxy.ts";
import { SOCKET_DIRECTORY, type Task } from "../runner.ts";
import { attachAll, framesOf } from "./engine.ts";

const READY_MS = 30_000;
const STREAMS_MAX = 512;
const EGRESS = "way-out";

export type Link = { containerId: string; close(): void; closed: Promise<void> };

export const needsLink = ({ network, socketDirectory }: Task): boolean => network || socketDirectory !== undefined;

async function socketsOf({ socketDirectory }: Task): Promise<string[]> {
  if (socketDirectory === undefined) return [];
  const found = await readdir(socketDirectory, { withFileTypes: true });
  return found.filter((entry) => entry.isSocket()).map(({ name }) => name);
}

/**
 * A link is a container beside the task's container. The link's forwarder passes the task's connections to this worker, which decides
 * which addresses are reached.
 * @param options of the link's container
 */
export async function openLink(engine: Docker, task: Task, options: Docker.ContainerCreateOptions): Promise<Link> {
  const sockets = await socketsOf(task);
  const endpoints = [
    ...(task.network ? [`${EGRESS}=${PROXY_PORT}`] : []),
    ...sockets.map((name) => `${name}=${SOCKET_DIRECTORY}/${name}`),
  ];
  const forwarder = await readFile(sourcePath("core/jobs/runners/docker/forwarder.mjs"), "utf8");
  const container = await engine.createContainer({
    ...options,
    Entrypoint: ["node", "--input-type=module", "--max-old-space-size=64"],
    Cmd: ["--eval", forwarder, ...endpoints],
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
  });
  const socket = await attachAll(container.id);
  const output = Readable.from(standardOutput(socket), { objectMode: false });
  const proxy = task.network ? await openEgressProxy(task) : undefined;
  const ready = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  // The container is not trusted, and can only open streams to these endpoints.
  const server = createServer({ maxSessionMemory: 64, settings: { maxConcurrentStreams: STREAMS_MAX } });
  let session: Http2Session | undefined;
  server.on("session", (begun) => {
    session = begun;
    begun.on("error", () => begun.destroy()).once("remoteSettings", () => ready.resolve());
    begun.once("close", () => {
      ready.reject(new Error("the forwarder ended"));
      closed.resolve();
    });
  });
  server.on("stream", (stream, headers) => {
    const name = headers[":authority"] ?? "";
    stream.on("error", () => stream.destroy());
    // The task may have reset the stream already, and an answer would throw.
    if (stream.destroyed || stream.closed) return;
    if (headers[":method"] !== "CONNECT") return stream.close();
    if (name === EGRESS && proxy) {
      stream.respond({ ":status": 200 });
      stream.setTimeout(IDLE_MS, () => stream.close());
      // An Http2Stream of Node 24 garbles some strings, so a pair of streams is in between.
      const [near, far] = duplexPair();
      near.on("error", () => stream.destroy()).once("close", () => stream.destroy());
      stream.once("close", () => near.destroy());
      stream.pipe(near).pipe(stream);
      return proxy.take(far);
    }
    if (!sockets.includes(name)) return stream.close();
    const outside = connectTo({ path: join(task.socketDirectory ?? "", name), allowHalfOpen: true });
    outside.on("error", () => stream.destroy()).once("close", () => stream.destroy());
    stream.once("close", () => outside.destroy());
    stream.respond({ ":status": 200 });
    stream.pipe(outside).pipe(stream);
  });
  const duplex = Duplex.from({ readable: output, writable: socket });
  duplex.on("error", () => duplex.destroy());
  server.emit("connection", duplex);
  const close = () => {
    session?.destroy();
    duplex.destroy();
    socket.destroy();
    proxy?.close();
  };
  void proxy?.cutOff.then(close);
  try {
    await container.start();
    const late = setTimeout(() => ready.reject(new Error("the forwarder did not begin")), READY_MS);
    await ready.promise.finally(() => clearTimeout(late));
  } catch (error) {
    close();
    throw error;
  }
  return { containerId: container.id, close, closed: closed.promise };
}

async function* standardOutput(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const { stream, bytes } of framesOf(source)) if (stream === "stdout") yield bytes;
}
