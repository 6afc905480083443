import type { LimitsReport } from "./runner-report.ts";

/** See docs/decisions/055-runners.md. */
export type Runner = {
  name: RunnerName;
  /** Does not throw if the runner fails. The exit reports that. */
  start(task: Task): Promise<Execution>;
  /** Only for runners whose limits depend on the machine. */
  report?(): Promise<LimitsReport>;
  /** Only for runners whose commands outlive a worker. Throws if the task cannot be ended now. */
  endLeftovers?(id: string): Promise<void>;
  /**
   * Only for runners that leave things outside of this machine's own folders. @param isHeld which of these tasks some worker
   * holds
   */
  sweep?(isHeld: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
};

export const runnerNames = ["bubblewrap", "docker", "kubernetes", "unsandboxed"] as const;
export type RunnerName = (typeof runnerNames)[number];

export type Task = {
  /** The ID of the run or the Space. */
  id: string;
  image?: string | undefined;
  /** Empty: the image's own command. */
  command: readonly string[];
  /** The runner may add variables such as PATH and HOME. */
  environment: Readonly<Record<string, string>>;
  /** Becomes the working directory, read-only. */
  filesDirectory?: string | undefined;
  /** In the file that `WEBHOOK_PAYLOAD_FILE` names (S133). */
  payload?: string | undefined;
  /** At `SOCKET_DIRECTORY` for the command, read-only. A runner lets the command's user enter the directory around this one. */
  socketDirectory?: string | undefined;
  network: boolean;
  limits: Limits;
  /** Nothing more is read until the promise resolves. */
  onOutput(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> | void;
  /** Receives a sentence for the task's owner. */
  onNote(sentence: string): void;
  /** SIGTERM, and after `graceMs` SIGKILL. */
  signal: AbortSignal;
  graceMs?: number;
};

export type Limits = {
  memoryBytes: number;
  cpus: number;
  /** Processes and threads at the same time. */
  processes: number;
  /** On the disk, or in memory. */
  scratchBytes: number;
  /** Per process. */
  cpuSeconds: number;
};

export type Execution = {
  exited: Promise<Exit>;
  /** Without SIGTERM. */
  kill(): void;
};

export type Exit =
  /** `code` is 128 + n after signal n, as in shells. */
  | { kind: "exited"; code: number }
  | { kind: "out_of_memory" }
  /** Through no fault of the command. `reason` is a sentence for the task's owner. */
  | { kind: "failed"; reason: string };

export const GRACE_MS = 10_000;

export const SOCKET_DIRECTORY = "/run/keyhook";
export const WORKING_DIRECTORY = "/workspace";
export const PAYLOAD_FILE = "/run/webhook/payload.json";
