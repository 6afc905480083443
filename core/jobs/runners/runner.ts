import type { LimitsReport } from "./runner-report.ts";

/** Runs commands. docs/decisions/055-runners.md lists the limits of each runner. */
export type Runner = {
  /** The name, as `job_run.runner` and the settings spell it. */
  name: RunnerName;
  /** Starts a command. It does not throw if the runner itself fails: the command's exit reports that. */
  start(task: Task): Promise<Execution>;
  /** How it limits tasks here, for the operator. Only for runners where that depends on the machine. */
  report?(): Promise<LimitsReport>;
  /**
   * Ends whatever still runs of a lost worker's task. Only for runners whose commands outlive a worker. Throws if it cannot end the task
   * now.
   */
  endLeftovers?(id: string): Promise<void>;
  /**
   * Removes what killed workers left of any task, and what the runner caches beyond its limits. Only for runners that leave such things
   * outside of this machine's own folders.
   * @param isHeld which of these tasks some worker holds
   */
  sweep?(isHeld: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
};

export const runnerNames = ["bubblewrap", "docker", "kubernetes", "unsandboxed"] as const;
export type RunnerName = (typeof runnerNames)[number];

/** A task to run. */
export type Task = {
  /** The id of the run or the Space: containers are named after it. */
  id: string;
  /** The image named in the spec. A runner without images notes in the log what it runs instead. */
  image?: string | undefined;
  /** The program and its arguments. Empty: the image's own command. */
  command: readonly string[];
  /** The command's whole environment, except what the runner itself adds (such as PATH and HOME). */
  environment: Readonly<Record<string, string>>;
  /** A directory of this machine that becomes the command's working directory, read-only. Without it: an empty, writable one. */
  filesDirectory?: string | undefined;
  /** A webhook's payload: `WEBHOOK_PAYLOAD_FILE` names a file with it (S133). */
  payload?: string | undefined;
  /**
   * A directory of this machine that the command finds, read-only, at `SOCKET_DIRECTORY`: through it a serving Space is reached. Only this
   * service may enter the directory around it; a runner lets the command's user enter that too.
   */
  socketDirectory?: string | undefined;
  /** Whether the task may reach anything outside of itself. */
  network: boolean;
  limits: Limits;
  /** Receives the task's output, in order within each stream. Nothing more is read until the promise resolves. */
  onOutput(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> | void;
  /** Receives a sentence for the task's owner about how the task runs. */
  onNote(sentence: string): void;
  /** Ends the task: SIGTERM, and after `graceMs` SIGKILL. */
  signal: AbortSignal;
  /** Default: `GRACE_MS`. */
  graceMs?: number;
};

export type Limits = {
  memoryBytes: number;
  cpus: number;
  /** Processes and threads at the same time. */
  processes: number;
  /** How much it may write to disk, or to a file system in memory. */
  scratchBytes: number;
  /** CPU seconds of one process. */
  cpuSeconds: number;
};

export type Execution = {
  exited: Promise<Exit>;
  /** Ends the task at once, without SIGTERM. */
  kill(): void;
};

export type Exit =
  /** The command ended; `code` is 128 + n if signal n ended it, as in shells. */
  | { kind: "exited"; code: number }
  /** The task was killed because it exceeded its memory limit. */
  | { kind: "out_of_memory" }
  /** The task could not be run, through no fault of its command. `reason` is a sentence for the task's owner. */
  | { kind: "failed"; reason: string };

/** How long a command has between SIGTERM and SIGKILL. */
export const GRACE_MS = 10_000;

/** The path of the socket directory for the command. */
export const SOCKET_DIRECTORY = "/run/keyhook";
/** The command's working directory, with the files of its Space. */
export const WORKING_DIRECTORY = "/workspace";
/** The path of the webhook's payload for the command. */
export const PAYLOAD_FILE = "/run/webhook/payload.json";
