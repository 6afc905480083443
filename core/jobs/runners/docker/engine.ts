import { request } from "node:http";
import type { Duplex } from "node:stream";
import type Docker from "dockerode";
import { env } from "../../../env.ts";
import { serviceMark } from "../../../temporary-folder.ts";

export async function connect(): Promise<Docker> {
  const { default: Engine } = await import("dockerode");
  return new Engine({ socketPath: env().JOBS_DOCKER_SOCKET });
}

const TASK = "keyhook.task";
const SERVICE = "keyhook.service";

export const labelsOf = (id: string): Record<string, string> => ({ [TASK]: id, [SERVICE]: serviceMark() });

type Leftovers = { containers: { id: string; task: string; isLink: boolean }[]; volumes: { name: string; task: string }[] };

/** Filters by one label only: with two labels, Podman would list volumes that have either of them. */
export async function listLeftovers(engine: Docker, task?: string): Promise<Leftovers> {
  const filters = { label: [`${SERVICE}=${serviceMark()}`] };
  const containers = await engine.listContainers({ all: true, filters });
  const { Volumes } = await engine.listVolumes({ filters });
  const isWanted = (of: { task: string }) => of.task !== "" && (task === undefined || of.task === task);
  return {
    containers: containers
      .map(({ Id, Labels, Names }) => ({
        id: Id,
        task: Labels[TASK] ?? "",
        isLink: Names.some((name) => name.endsWith("-link")),
      }))
      .filter(isWanted),
    volumes: (Volumes ?? []).map(({ Name, Labels }) => ({ name: Name, task: Labels?.[TASK] ?? "" })).filter(isWanted),
  };
}

export async function isPodman(engine: Docker): Promise<boolean> {
  const { Components = [] } = (await engine.version()) as { Components?: { Name: string }[] };
  return Components.some(({ Name }) => Name.startsWith("Podman"));
}

/** Does not use dockerode, which would write its own options into the container's input. */
export function attachAll(containerId: string): Promise<Duplex> {
  const path = `/containers/${containerId}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
  const headers = { connection: "Upgrade", upgrade: "tcp" };
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  request({ socketPath: env().JOBS_DOCKER_SOCKET, method: "POST", path, headers })
    .once("upgrade", (_, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      // The engine may end before anybody reads.
      resolve(socket.on("error", () => socket.destroy()));
    })
    .once("response", (answer) => {
      answer.resume();
      reject(Object.assign(new Error("the engine did not attach"), { statusCode: answer.statusCode }));
    })
    .once("error", reject)
    .end();
  return promise;
}

export const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode;

export async function ignoring<T>(status: number, answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (statusOf(error) === status) return undefined;
    throw error;
  });
}

/** A frame has a kind, a length and bytes: application/vnd.docker.multiplexed-stream. */
const HEADER_BYTES = 8;
const KINDS = ["stdin", "stdout", "stderr"] as const;

type Frame = { stream: "stdout" | "stderr"; bytes: Buffer };

/** A frame may have any length, so frames are never buffered whole. */
export async function* framesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  let current: { stream: Frame["stream"] | undefined; left: number } | undefined;
  for await (const chunk of source) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      if (!current) {
        if (rest.length < HEADER_BYTES) break;
        const kind = KINDS[rest[0] ?? 0];
        current = { stream: kind === "stdin" ? undefined : kind, left: rest.readUInt32BE(4) };
        rest = rest.subarray(HEADER_BYTES);
      }
      const bytes = rest.subarray(0, current.left);
      rest = rest.subarray(bytes.length);
      current.left -= bytes.length;
      if (bytes.length > 0 && current.stream) yield { stream: current.stream, bytes };
      if (current.left > 0) break;
      current = undefined;
    }
  }
}
