import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { isServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { bubblewrap } from "./bubblewrap/bubblewrap.ts";
import type { Runner } from "./runner.ts";
import { RUNNER_REPORT_KEY } from "./runner-report.ts";

/** The operator reads this refusal. Users read `JOBS_OFF`. */
export type NoRunner = { refusal: string };

let found: Promise<Runner | NoRunner> | undefined;

export async function findRunner(): Promise<Runner | NoRunner> {
  found ??= chooseRunner().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  const runner = await found;
  if ("refusal" in runner) found = undefined;
  return runner;
}

async function chooseRunner(): Promise<Runner | NoRunner> {
  switch (env().JOBS_RUNNER) {
    case "off":
      return { refusal: "JOBS_RUNNER is off." };
    case "docker":
      return (await import("./docker/docker.ts")).docker;
    case "kubernetes":
      return (await import("./kubernetes/kubernetes.ts")).kubernetes;
    case "unsandboxed":
      return (await import("./unsandboxed.ts")).unsandboxed;
    default:
      return (await probeBubblewrap()) ?? bubblewrap;
  }
}

let logged: string | undefined;

async function probeBubblewrap(): Promise<NoRunner | undefined> {
  const reason = await probe(bubblewrap);
  if (reason === undefined) return undefined;
  if (reason !== logged) log().warn({ reason }, "jobs cannot be isolated on this machine and are refused");
  logged = reason;
  return {
    refusal: `Jobs and Spaces are disabled, because nothing isolates them here: ${reason} Install bubblewrap (apt-get install bubblewrap) and allow user namespaces, or set JOBS_RUNNER=docker, or JOBS_RUNNER=kubernetes, which runs jobs but no Spaces.`,
  };
}

export async function reportRunner(): Promise<void> {
  const found = await findRunner().catch((error: unknown) => ({
    refusal: isServiceError(error)
      ? error.message
      : "Jobs and Spaces are disabled: the worker could not determine how to run them. See its log.",
  }));
  const value =
    "refusal" in found ? { refusal: found.refusal } : { runner: found.name, limits: (await found.report?.()) ?? null };
  await db().setting.upsert({
    where: { key: RUNNER_REPORT_KEY },
    create: { key: RUNNER_REPORT_KEY, value },
    update: { value, updatedAt: new Date() },
  });
}

const PROBE_MS = 10_000;

export async function probe(runner: Runner): Promise<string | undefined> {
  let output = "";
  const { exited } = await runner.start({
    id: "probe",
    command: ["true"],
    environment: {},
    network: false,
    limits: { memoryBytes: 256 * 1024 ** 2, cpus: 1, processes: 16, scratchBytes: 1024 ** 2, cpuSeconds: 10 },
    onOutput: (_stream, bytes) => {
      output = (output + bytes.toString("utf8")).slice(0, 300);
    },
    onNote: () => undefined,
    signal: AbortSignal.timeout(PROBE_MS),
  });
  const exit = await exited;
  if (exit.kind === "failed") return exit.reason;
  if (exit.kind === "exited" && exit.code === 0) return undefined;
  return `a test command failed in the sandbox (${output.trim() || exit.kind}).`;
}
