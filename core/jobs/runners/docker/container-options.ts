import type Docker from "dockerode";
import type { Limits } from "../runner.ts";

const OPEN_FILES = 4_096;
/** The limit for engines without a pids cgroup, where the kernel counts a user's processes over all containers. */
const USER_PROCESSES = 16_384;
const MEBIBYTE = 1024 ** 2;
const BYTES_PER_FILE = 2_048;

type Settings = { isForPodman: boolean; tmpfs: string[]; mounts: Docker.MountSettings[]; user: string };

export function containerOptions(limits: Limits, { isForPodman, tmpfs, mounts, user }: Settings): Docker.ContainerCreateOptions {
  const inMemory = (bytes: number, mode: string) =>
    `rw,nosuid,nodev,size=${bytes},mode=${mode},${
      // Without `notmpcopyup`, Podman copies the image's files there. Podman cannot limit the number of files.
      isForPodman ? "notmpcopyup" : `nr_inodes=${Math.ceil(bytes / BYTES_PER_FILE)}`
    }`;
  return {
    User: user,
    AttachStdout: true,
    AttachStderr: true,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      Mounts: mounts,
      Tmpfs: {
        ...Object.fromEntries(tmpfs.map((path) => [path, inMemory(Math.floor(limits.scratchBytes / 2), "1777")])),
        // Podman would mount these directories without a size limit.
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
      // The limit is for memory and swap together, so the command gets no swap.
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      ShmSize: 64 * MEBIBYTE,
      // When memory is short, the kernel should kill the command before the service.
      OomScoreAdj: 1000,
      Ulimits: [
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "nofile", Soft: OPEN_FILES, Hard: OPEN_FILES },
        { Name: "nproc", Soft: USER_PROCESSES, Hard: USER_PROCESSES },
      ],
      // Without this setting, the engine would write the output into a growing file.
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
    },
  };
}
