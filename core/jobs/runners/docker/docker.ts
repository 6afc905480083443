import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { env } from "../../../env.ts";
import { log } from "../../../log.ts";
import { makeTemporaryFolder } from "../../../temporary-folder.ts";
import { proxyVariables } from "../egress-proxy.ts";
import {
  type Execution,
  type Exit,
  GRACE_MS,
  type Limits,
  PAYLOAD_FILE,
  type Runner,
  SOCKET_DIRECTORY,
  type Task,
  WORKING_DIRECTORY,
} from "../runner.ts";
import { containerOptions } from "./container-options.ts";
import { connect, framesOf, ignoring, isPodman, labelsOf, listLeftovers, statusOf } from "./engine.ts";
import { ImageRefused, provideImage, provideNodeImage, pruneImages } from "./images.ts";
import { type Link, needsLink, openLink } from "./link.ts";

const USER = "1000:1000";
const MEBIBYTE = 1024 ** 2;
const LINK_LIMITS: Limits = { memoryBytes: 192 * MEBIBYTE, cpus: 1, processes: 32, scratchBytes: MEBIBYTE, cpuSeconds: 0 };
const ENGINE_TRIES = 10;
const ENGINE_RETRY_MS = 1_000;
const REMOVE_TRIES = 13;
const REMOVE_RETRY_MS = 200;

const PAYLOAD_DIRECTORY = PAYLOAD_FILE.slice(0, PAYLOAD_FILE.lastIndexOf("/"));

export const docker: Runner = {
  name: "docker",
  async start(task) {
    const run = new ContainerRun(task, await connect());
    return { exited: run.exit(), kill: () => run.kill() } satisfies Execution;
  },
  async endLeftovers(id) {
    await removeAll(await connect(), id);
  },
  async sweep(isHeld) {
    const engine = await connect();
    const { containers, volumes } = await listLeftovers(engine);
    const left = new Set([...containers, ...volumes].map(({ task }) => task));
    // Claims are read after this list, because a task is claimed before its containers are created.
    const held = await isHeld([...left]);
    for (const id of left) if (!held.has(id)) await removeAll(engine, id);
    await pruneImages(engine);
  },
};

const nameOf = (id: string): string => `keyhook-${id}`;
const volumeOf = (id: string, kind: "files" | "payload" | "sockets"): string => `${nameOf(id)}-${kind}`;

async function removeAll(engine: Docker, id: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const { containers, volumes } = await listLeftovers(engine, id);
      // An engine does not remove a container whose network another container uses, so the link comes last.
      containers.sort((one, other) => Number(one.isLink) - Number(other.isLink));
      for (const container of containers) await ignoring(404, engine.getContainer(container.id).remove({ force: true, v: true }));
      for (const { name } of volumes) await ignoring(404, engine.getVolume(name).remove());
      return;
    } catch (error) {
      // A container that is just ending cannot be removed at that moment.
      if (statusOf(error) === undefined || tries === REMOVE_TRIES) throw error;
      await sleep(REMOVE_RETRY_MS * tries);
    }
  }
}

class ContainerRun {
  readonly #task: Task;
  readonly #engine: Docker;
  readonly #container: Docker.Container;
  #isKilled = false;
  #isStarted = false;
  #link: Link | undefined;

  constructor(task: Task, engine: Docker) {
    this.#task = task;
    this.#engine = engine;
    this.#container = engine.getContainer(nameOf(task.id));
  }

  async exit(): Promise<Exit> {
    const { image, id } = this.#task;
    try {
      // A Space always has the same ID, so a dead worker's containers would have the names of the new ones.
      await removeAll(this.#engine, id);
      if (image === undefined) this.#task.onNote(`The job has no image: it runs in ${env().JOBS_NODE_IMAGE}.`);
      const imageId =
        image === undefined
          ? await provideNodeImage(this.#engine, this.#task)
          : await provideImage(this.#engine, image, this.#task);
      const mounts = await this.#provideVolumes(imageId);
      const isForPodman = await isPodman(this.#engine);
      if (needsLink(this.#task)) await this.#openLink(mounts, isForPodman);
      await this.#engine.createContainer(this.#options(imageId, mounts, isForPodman));
      if (this.#task.signal.aborted || this.#isKilled) return { kind: "exited", code: 137 };
      return await this.#run();
    } catch (error) {
      if (this.#task.signal.aborted || this.#isKilled) return { kind: "exited", code: 137 };
      return { kind: "failed", reason: reasonOf(error) };
    } finally {
      this.#link?.close();
      await removeAll(this.#engine, id).catch((error: unknown) => {
        log().warn({ err: error, runId: id }, "a container could not be removed");
      });
    }
  }

  kill(): void {
    this.#isKilled = true;
    if (this.#isStarted) void this.#container.kill({ signal: "SIGKILL" }).catch(() => undefined);
  }

  /** The engine may be on another machine and cannot write into a read-only container, so another container fills the volumes. */
  async #provideVolumes(imageId: string): Promise<Docker.MountSettings[]> {
    const { filesDirectory, socketDirectory, payload, id } = this.#task;
    const given = [
      ...(filesDirectory ? [{ kind: "files" as const, target: WORKING_DIRECTORY, from: filesDirectory }] : []),
      ...(socketDirectory ? [{ kind: "sockets" as const, target: SOCKET_DIRECTORY, from: socketDirectory }] : []),
      ...(payload === undefined ? [] : [{ kind: "payload" as const, target: PAYLOAD_DIRECTORY, from: undefined }]),
    ];
    if (given.length === 0) return [];
    const mounts = given.map(({ kind, target }) => ({
      Type: "volume" as const,
      Source: volumeOf(id, kind),
      Target: target,
      ReadOnly: false,
    }));
    for (const { Source } of mounts) await this.#engine.createVolume({ Name: Source, Labels: labelsOf(id) });
    const filler = await this.#engine.createContainer({
      Image: imageId,
      Cmd: ["true"],
      Labels: labelsOf(id),
      HostConfig: { Mounts: mounts, NetworkMode: "none" },
    });
    try {
      for (const { target, from } of given) {
        const fill = (directory: string) => withTar(directory, (archive) => filler.putArchive(archive, { path: target }));
        await (from === undefined ? withPayload(payload ?? "", fill) : fill(from));
      }
    } finally {
      await filler.remove({ force: true }).catch((error: unknown) => {
        log().warn({ err: error, runId: id }, "a container that only received files could not be removed yet");
      });
    }
    return mounts.map((mount) => ({ ...mount, ReadOnly: true }));
  }

  async #openLink(mounts: Docker.MountSettings[], isForPodman: boolean): Promise<void> {
    const nodeImageId = await provideNodeImage(this.#engine, this.#task);
    const sockets = mounts.filter(({ Target }) => Target === SOCKET_DIRECTORY).map((mount) => ({ ...mount, ReadOnly: false }));
    this.#link = await openLink(this.#engine, this.#task, {
      name: `${nameOf(this.#task.id)}-link`,
      Image: nodeImageId,
      Labels: labelsOf(this.#task.id),
      // Root owns the sockets' volume. Root has no capabilities here.
      ...containerOptions(LINK_LIMITS, {
        isForPodman,
        tmpfs: ["/tmp"],
        mounts: sockets,
        user: sockets.length > 0 ? "0:0" : USER,
      }),
    });
  }

  #options(imageId: string, mounts: Docker.MountSettings[], isForPodman: boolean): Docker.ContainerCreateOptions {
    const { id, command, environment, limits, network, payload, filesDirectory } = this.#task;
    const [program, ...rest] = command;
    const variables = {
      HOME: "/tmp",
      ...(network && proxyVariables),
      ...environment,
      ...(payload !== undefined && { WEBHOOK_PAYLOAD_FILE: PAYLOAD_FILE }),
    };
    const tmpfs = ["/tmp", ...(filesDirectory ? [] : [WORKING_DIRECTORY])];
    const options = containerOptions(limits, { isForPodman, tmpfs, mounts, user: USER });
    return {
      ...options,
      name: nameOf(id),
      Image: imageId,
      ...(program !== undefined && { Entrypoint: [program], Cmd: rest }),
      Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      Labels: labelsOf(id),
      WorkingDir: WORKING_DIRECTORY,
      HostConfig: { ...options.HostConfig, ...(network && { NetworkMode: `container:${this.#link?.containerId}` }) },
    };
  }

  async #run(): Promise<Exit> {
    const { signal, graceMs = GRACE_MS } = this.#task;
    const output = await this.#container.attach({ stream: true, stdout: true, stderr: true });
    const reading = this.#read(output as unknown as AsyncIterable<Buffer>);
    await this.#container.start();
    this.#isStarted = true;
    if (this.#isKilled) this.kill();
    // A Space that can no longer be reached is ended, so that it restarts.
    if (this.#task.socketDirectory) void this.#link?.closed.then(() => this.kill());
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
      this.#task.onNote("The container engine closed the log stream: later output is missing.");
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

async function withPayload(payload: string, work: (directory: string) => Promise<unknown>): Promise<void> {
  const directory = await makeTemporaryFolder("payload");
  try {
    await writeFile(join(directory, "payload.json"), payload);
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function withTar(directory: string, work: (archive: Readable) => Promise<unknown>): Promise<void> {
  // Files that only the service can read must be readable in the container.
  const options = ["-C", directory, "--owner=0", "--group=0", "--mode=a+rX,go-w", "-cf", "-", "."];
  const tar = spawn("tar", options, { stdio: ["ignore", "pipe", "ignore"] });
  tar.once("error", (error) => tar.stdout.destroy(error));
  try {
    await work(tar.stdout);
    // Podman accepts a truncated archive without an error. Exit code 1 only means that a file changed meanwhile.
    if ((tar.exitCode ?? 0) > 1) throw new Error(`tar could not read the files (exit ${tar.exitCode})`);
  } finally {
    // An engine that rejects the archive does not read the rest of it, so tar would wait.
    tar.kill();
  }
}

/** The user does not see the engine's messages, which are about the engine and its machine. */
function reasonOf(error: unknown): string {
  if (error instanceof ImageRefused) return error.message;
  log().warn({ err: error }, "the container engine could not run a job");
  if (statusOf(error) === undefined) return "The container engine does not respond. Contact the operator.";
  if (/executable file not found|no such file or directory/i.test(String((error as Error).message)))
    return "The command is not in the image. Correct it, or use an image that contains it.";
  return "The container engine refused to run the job. Contact the operator, who can find the reason in the service's log.";
}
