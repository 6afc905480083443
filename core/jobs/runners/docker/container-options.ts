import type Docker from "dockerode";
import type { Limits } from "../runner.ts";

const OPEN_FILES = 4_096;
/**
 * The limit of processes per user, which the kernel counts over all containers: a high second limit, for engines without a pids control
 * group.
 */
const USER_PROCESSES = 16_384;
const MEBIBYTE = 1024 ** 2;
/** Memory of a file in a tmpfs besides its content, rounded up: the maximum number of files follows from the size. */
const BYTES_PER_FILE = 2_048;

type Settings = { isForPodman: boolean; tmpfs: string[]; mounts: Docker.MountSettings[]; user: string };

/** The restrictions of every container that this service creates. */
export function containerOptions(limits: Limits, { isForPodman, tmpfs, mounts, user }: Settings): Docker.ContainerCreateOptions {
  const inMemory = (bytes: number, mode: string) =>
    `rw,nosuid,nodev,size=${bytes},mode=${mode},${
      // `notmpcopyup`: otherwise Podman would copy the image's files there. It cannot limit the number of files, but counts them as the
      // container's memory.
      isForPodman ? "notmpcopyup" : `nr_inodes=${Math.ceil(bytes / BYTES_PER_FILE)}`
    }`;
  return {
    User: user,
    AttachStdout: true,
    AttachStderr: true,
    // Otherwise the engine would run the image's own health check as long as the container exists.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      Mounts: mounts,
      Tmpfs: {
        ...Object.fromEntries(tmpfs.map((path) => [path, inMemory(Math.floor(limits.scratchBytes / 2), "1777")])),
        // In a read-only container, Podman would mount these directories itself, without a size limit.
        ...(isForPodman && { "/run": inMemory(MEBIBYTE, "755"), "/var/tmp": inMemory(MEBIBYTE, "1777") }),
      },
      NetworkMode: "none",
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      ReadonlyRootfs: true,
      Privileged: false,
      IpcMode: "private",
      Init: true,
      PidsLimit: limits.processes,
      Memory: limits.memoryBytes,
      // Memory and swap together, so the command gets no swap.
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      ShmSize: 64 * MEBIBYTE,
      // When the machine is short of memory, the kernel should kill the command first.
      OomScoreAdj: 1000,
      Ulimits: [
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "nofile", Soft: OPEN_FILES, Hard: OPEN_FILES },
        { Name: "nproc", Soft: USER_PROCESSES, Hard: USER_PROCESSES },
      ],
      // The output goes to us, not into a growing file of the engine.
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
    },
  };
}
