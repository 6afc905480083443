import type { LimitsReport } from "./runner-report.ts";

/** Where commands run. What each runner holds them to is in docs/decisions/055-runners.md. */
export type Runner = {
  /** As `job_run.runner` and the settings name it. */
  name: RunnerName;
  /** Starts a command. It does not throw for what is the runner's own failure: that is how the command then ends. */
  start(task: Task): Promise<Execution>;
  /** How it holds tasks to their limits here, for the operator. Of runners for which that differs from machine to machine. */
  report?(): Promise<LimitsReport>;
  /**
   * Ends what a worker that was lost has left of a run, so that its try can be repeated. Only of runners whose commands outlive their
   * worker. It throws where that cannot be done now.
   */
  endLeftovers?(id: string): Promise<void>;
  /**
   * Removes what killed workers have left of any task, and what it keeps for later ones beyond its limits. Only of runners that leave such
   * things outside of this machine's own folders.
   * @param isHeld which of these tasks somebody has in hand
   */
  sweep?(isHeld: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
};

export const runnerNames = ["bubblewrap", "docker", "kubernetes", "unsandboxed"] as const;
export type RunnerName = (typeof runnerNames)[number];

/** What to run, and with what. */
export type Task = {
  /** The run's or the Space's id: what a container is named after. */
  id: string;
  /** As the spec names it; a runner without images says what it runs in its place. */
  image?: string | undefined;
  /** The program and its arguments. Empty: what the image starts by itself. */
  command: readonly string[];
  /** All that the command sees, but for what the runner itself has to add (PATH, HOME, TMPDIR). */
  environment: Readonly<Record<string, string>>;
  /** A directory of this machine: the command finds it, read-only, as its working directory. Without: an empty one to write in. */
  filesDirectory?: string | undefined;
  /** A webhook's payload: `WEBHOOK_PAYLOAD_FILE` names a file with it (S133). */
  payload?: string | undefined;
  /**
   * A directory of this machine that the command finds, read-only, at `SOCKET_DIRECTORY`: how a Space that serves is reached. It lies in
   * a directory that only this service may enter; a runner opens that to the user as whom it runs the command.
   */
  socketDirectory?: string | undefined;
  /** Whether it may reach anything outside of itself. */
  network: boolean;
  limits: Limits;
  /** What it writes, in order within each stream. Nothing more is read until the promise resolves. */
  onOutput(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> | void;
  /** What its owner should know about how it runs, as a sentence. */
  onNote(sentence: string): void;
  /** Ends it: SIGTERM, and after `graceMs` SIGKILL. */
  signal: AbortSignal;
  /** Default: `GRACE_MS`. */
  graceMs?: number;
};

export type Limits = {
  memoryBytes: number;
  cpus: number;
  /** Processes and threads at the same time. */
  processes: number;
  /** What it may write to disk, or to memory in its place. */
  scratchBytes: number;
  /** CPU seconds of one process. */
  cpuSeconds: number;
};

export type Execution = {
  exited: Promise<Exit>;
  /** Ends it at once and without a word to it. */
  kill(): void;
};

export type Exit =
  /** The command ended; `code` is 128 + n where signal n ended it, as shells have it. */
  | { kind: "exited"; code: number }
  /** It was ended because it took more memory than it may. */
  | { kind: "out_of_memory" }
  /** It could not be run: no fault of the command. `reason` is a sentence for its owner. */
  | { kind: "failed"; reason: string };

/** How long a command has between SIGTERM and SIGKILL. */
export const GRACE_MS = 10_000;

/** Where a command finds the socket directory. */
export const SOCKET_DIRECTORY = "/run/keyhook";
/** Where a command starts, and where it finds the files of its Space. */
export const WORKING_DIRECTORY = "/workspace";
/** Where a command finds the payload of its webhook. */
export const PAYLOAD_FILE = "/run/webhook/payload.json";
