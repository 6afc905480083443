import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { env } from "../../../env.ts";
import { log } from "../../../log.ts";
import {
  type Execution,
  type Exit,
  GRACE_MS,
  PAYLOAD_FILE,
  type Runner,
  SOCKET_DIRECTORY,
  type Task,
  WORKING_DIRECTORY,
} from "../runner.ts";
import { framesOf } from "./frames.ts";

/** What runs where no image is named: a Space, for example. */
const STANDARD_IMAGE = "node:24-slim";
const LABEL = "keyhook.run";
const USER = "1000:1000";
const OPEN_FILES = 4_096;
const MEBIBYTE = 1024 ** 2;
/** An engine that restarts is waited for; its containers may go on meanwhile. */
const ENGINE_TRIES = 10;
const ENGINE_RETRY_MS = 1_000;

const PAYLOAD_DIRECTORY = PAYLOAD_FILE.slice(0, PAYLOAD_FILE.lastIndexOf("/"));

/** Runs a command in a container of Docker or Podman, by the Engine API of JOBS_DOCKER_SOCKET. */
export const docker: Runner = {
  name: "docker",
  async start(task) {
    const run = new ContainerRun(task, await connect());
    return { exited: run.exit(), kill: () => run.kill() } satisfies Execution;
  },
  async endLeftovers(id) {
    const engine = await connect();
    const left = await engine.listContainers({ all: true, filters: { label: [`${LABEL}=${id}`] } });
    for (const { Id } of left) await ignoring(404, engine.getContainer(Id).remove({ force: true, v: true }));
    for (const volume of volumeNames(id)) await ignoring(404, engine.getVolume(volume).remove());
  },
};

async function connect(): Promise<Docker> {
  const { default: Engine } = await import("dockerode");
  return new Engine({ socketPath: env().JOBS_DOCKER_SOCKET });
}

const nameOf = (id: string): string => `keyhook-${id}`;
const volumeNames = (id: string): string[] => [`keyhook-${id}-files`, `keyhook-${id}-payload`];

class ContainerRun {
  readonly #task: Task;
  readonly #engine: Docker;
  readonly #container: Docker.Container;
  readonly #image: string;
  #isKilled = false;
  #isStarted = false;

  constructor(task: Task, engine: Docker) {
    this.#task = task;
    this.#engine = engine;
    this.#container = engine.getContainer(nameOf(task.id));
    this.#image = withTag(task.image ?? STANDARD_IMAGE);
  }

  async exit(): Promise<Exit> {
    try {
      if (this.#task.image === undefined) this.#task.onNote(`It names no image: it runs in ${STANDARD_IMAGE}.`);
      await this.#providePull();
      const volumes = await this.#provideVolumes();
      await this.#engine.createContainer(this.#options(volumes));
      if (this.#task.signal.aborted || this.#isKilled) return { kind: "exited", code: 137 };
      return await this.#run();
    } catch (error) {
      return { kind: "failed", reason: reasonOf(error, this.#image) };
    } finally {
      await docker.endLeftovers?.(this.#task.id).catch((error: unknown) => {
        log().warn({ err: error, runId: this.#task.id }, "a container could not be removed");
      });
    }
  }

  kill(): void {
    this.#isKilled = true;
    if (this.#isStarted) void this.#container.kill({ signal: "SIGKILL" }).catch(() => undefined);
  }

  async #providePull(): Promise<void> {
    const isThere = await ignoring(404, this.#engine.getImage(this.#image).inspect());
    if (isThere) return;
    this.#task.onNote(`Pulling ${this.#image}.`);
    const progress = await this.#engine.pull(this.#image);
    await new Promise<void>((resolve, reject) =>
      this.#engine.modem.followProgress(progress, (error) => (error ? reject(error) : resolve())),
    );
  }

  /**
   * Files come in volumes, filled through a container that is never started: the engine may be another machine, on which a path of ours
   * is nothing, and it writes nothing into a container whose own files are read-only.
   */
  async #provideVolumes(): Promise<Docker.MountSettings[]> {
    const { filesDirectory, payload, id } = this.#task;
    const [files = "", event = ""] = volumeNames(id);
    const mounts: Docker.MountSettings[] = [
      ...(filesDirectory ? [{ Type: "volume" as const, Source: files, Target: WORKING_DIRECTORY, ReadOnly: false }] : []),
      ...(payload === undefined ? [] : [{ Type: "volume" as const, Source: event, Target: PAYLOAD_DIRECTORY, ReadOnly: false }]),
    ];
    if (mounts.length === 0) return [];
    for (const { Source } of mounts) await this.#engine.createVolume({ Name: Source, Labels: { [LABEL]: id } });
    const filler = await this.#engine.createContainer({
      Image: this.#image,
      Cmd: ["true"],
      Labels: { [LABEL]: id },
      HostConfig: { Mounts: mounts, NetworkMode: "none" },
    });
    try {
      if (filesDirectory) await filler.putArchive(tarOf(filesDirectory), { path: WORKING_DIRECTORY });
      if (payload !== undefined) {
        const directory = await mkdtemp(join(tmpdir(), "keyhook-payload-"));
        try {
          await chmod(directory, 0o755);
          await writeFile(join(directory, "payload.json"), payload, { mode: 0o644 });
          await filler.putArchive(tarOf(directory), { path: PAYLOAD_DIRECTORY });
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      }
    } finally {
      await filler.remove({ force: true });
    }
    return mounts.map((mount) => ({ ...mount, ReadOnly: true }));
  }

  #options(volumes: Docker.MountSettings[]): Docker.ContainerCreateOptions {
    const { id, command, environment, limits, network, payload, filesDirectory, socketDirectory } = this.#task;
    const [program, ...rest] = command;
    const half = Math.floor(limits.scratchBytes / 2);
    const temporary = `rw,nosuid,nodev,size=${half},mode=1777`;
    const variables = { HOME: "/tmp", ...environment, ...(payload !== undefined && { WEBHOOK_PAYLOAD_FILE: PAYLOAD_FILE }) };
    return {
      name: nameOf(id),
      Image: this.#image,
      ...(program !== undefined && { Entrypoint: [program], Cmd: rest }),
      Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      Labels: { [LABEL]: id },
      WorkingDir: WORKING_DIRECTORY,
      User: USER,
      AttachStdout: true,
      AttachStderr: true,
      HostConfig: {
        Mounts: [
          ...volumes,
          ...(socketDirectory
            ? [{ Type: "bind" as const, Source: socketDirectory, Target: SOCKET_DIRECTORY, ReadOnly: true }]
            : []),
        ],
        Tmpfs: { "/tmp": temporary, ...(!filesDirectory && { [WORKING_DIRECTORY]: temporary }) },
        NetworkMode: network ? "bridge" : "none",
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges:true"],
        ReadonlyRootfs: true,
        Privileged: false,
        IpcMode: "private",
        Init: true,
        PidsLimit: limits.processes,
        Memory: limits.memoryBytes,
        // No swap beyond it.
        MemorySwap: limits.memoryBytes,
        NanoCpus: Math.round(limits.cpus * 1e9),
        ShmSize: 64 * MEBIBYTE,
        OomScoreAdj: 1000,
        Ulimits: [
          { Name: "core", Soft: 0, Hard: 0 },
          { Name: "nofile", Soft: OPEN_FILES, Hard: OPEN_FILES },
        ],
        // What it writes goes to us, and not into a file of the engine's that grows.
        LogConfig: { Type: "none", Config: {} },
        RestartPolicy: { Name: "no" },
      },
    };
  }

  async #run(): Promise<Exit> {
    const { signal, graceMs = GRACE_MS } = this.#task;
    const output = await this.#container.attach({ stream: true, stdout: true, stderr: true });
    const reading = this.#read(output as unknown as AsyncIterable<Buffer>);
    await this.#container.start();
    this.#isStarted = true;
    if (this.#isKilled) this.kill();
    let grace: NodeJS.Timeout | undefined;
    const terminate = () => {
      void this.#container.kill({ signal: "SIGTERM" }).catch(() => undefined);
      grace = setTimeout(() => this.kill(), graceMs);
    };
    if (signal.aborted) terminate();
    signal.addEventListener("abort", terminate);
    try {
      const code = await this.#exitCode();
      await reading;
      const { State } = await this.#container.inspect();
      return State.OOMKilled ? { kind: "out_of_memory" } : { kind: "exited", code };
    } finally {
      clearTimeout(grace);
      signal.removeEventListener("abort", terminate);
    }
  }

  async #read(output: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const { stream, bytes } of framesOf(output)) await this.#task.onOutput(stream, bytes);
    } catch {
      this.#task.onNote("The engine ended the stream of its output: what came after is not here.");
    }
  }

  async #exitCode(): Promise<number> {
    for (let tries = 1; ; tries++) {
      try {
        return (await this.#container.wait()).StatusCode;
      } catch (error) {
        if (statusOf(error) !== undefined || tries === ENGINE_TRIES) throw error;
        await sleep(ENGINE_RETRY_MS);
      }
    }
  }
}

/** An image without a tag is every tag of it to an engine that pulls. */
function withTag(image: string): string {
  return /[:@][^/]*$/.test(image) ? image : `${image}:latest`;
}

function tarOf(directory: string): Readable {
  const tar = spawn("tar", ["-C", directory, "--owner=0", "--group=0", "-cf", "-", "."], { stdio: ["ignore", "pipe", "ignore"] });
  tar.once("error", (error) => tar.stdout.destroy(error));
  return tar.stdout;
}

const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode;

async function ignoring<T>(status: number, answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (statusOf(error) === status) return undefined;
    throw error;
  });
}

/** A sentence for the run's owner: what the engine says about their image, and not what it says about itself. */
function reasonOf(error: unknown, image: string): string {
  const status = statusOf(error);
  log().warn({ err: error }, "the container engine could not run a job");
  if (status === undefined) return "The container engine of this installation does not answer. Its operator can look into it.";
  if (status === 404) return `The image ${image} is not there, or its program is not in it.`;
  return `The container engine refused it: ${((error as { reason?: string }).reason ?? (error as Error).message).slice(0, 300)}.`;
}
