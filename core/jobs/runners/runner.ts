import type { LimitsReport } from "./runner-report.ts";

/** See docs/decisions/055-runners.md. */
export type Runner = {
  name: RunnerName;
  start(task: Task): Promise<Execution>;
  /** Only for runners whose limits depend on the machine. */
  report?(): Promise<LimitsReport>;
  /**
   * Only for runners whose commands outlive a worker.
   * @throws Error if the task cannot be ended now
   */
  endLeftovers?(id: string): Promise<void>;
  /**
   * Only for runners that may leave something elsewhere than in this machine's own folders.
   * @param isHeld returns those of the IDs that some worker holds
   */
  sweep?(isHeld: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
};

export const runnerNames = ["bubblewrap", "docker", "kubernetes", "unsandboxed"] as const;
export type RunnerName = (typeof runnerNames)[number];

export type Task = {
  id: string;
  image?: string | undefined;
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The command's working directory, which is read-only. */
  filesDirectory?: string | undefined;
  /** The variable `WEBHOOK_PAYLOAD_FILE` names a file with the payload (S133). */
  payload?: string | undefined;
  /** The command sees this directory read-only at `SOCKET_DIRECTORY`. The command's user can enter the directory's parent. */
  socketDirectory?: string | undefined;
  network: boolean;
  limits: Limits;
  /** Nothing more is read until the promise resolves. */
  onOutput(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> | void;
  onNote(sentence: string): void;
  /** The command gets SIGTERM, and after `graceMs` SIGKILL. */
  signal: AbortSignal;
  graceMs?: number;
};

export type Limits = {
  memoryBytes: number;
  cpus: number;
  processes: number;
  scratchBytes: number;
  cpuSeconds: number;
};

export type Execution = {
  exited: Promise<Exit>;
  kill(): void;
};

export type Exit =
  /** After signal n, `code` is 128 + n, as in shells. */
  | { kind: "exited"; code: number }
  | { kind: "out_of_memory" }
  /** `reason` is a sentence for the task's owner, whose command is not at fault. */
  | { kind: "failed"; reason: string };

export const GRACE_MS = 10_000;

export const SOCKET_DIRECTORY = "/run/keyhook";
export const WORKING_DIRECTORY = "/workspace";
export const PAYLOAD_FILE = "/run/webhook/payload.json";
