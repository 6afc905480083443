import { rm } from "node:fs/promises";
import { JOB_TIMEOUT_SECONDS, type JobSpec } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { findDelegate } from "../../access/delegation.ts";
import { env } from "../../env.ts";
import { isServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { type Flavor, findFlavor } from "../flavors.ts";
import { LogWriter } from "../logs/log-writer.ts";
import { findRunner } from "../runners/find-runner.ts";
import type { Execution, Exit, Limits, Runner } from "../runners/runner.ts";
import { JOBS_OFF } from "../runners/runner-report.ts";
import { makeTaskDirectory } from "../runners/task-directory.ts";
import { unsealJobSecrets } from "../secrets.ts";
import { type ClaimedRun, partyOf } from "./job-table.ts";
import { type Outcome, recordEnd, recordStart, watchClaim } from "./record-run.ts";
import { type RunOwner, type SpaceOfJob, storedSpecSchema } from "./run.ts";
import { runEnvironment } from "./run-environment.ts";

/** `delegate` is undefined if the actor has no rights left. */
export type RunFor = { owner: RunOwner; delegate: Actor | undefined };

/** The run's owner and the starter must both be able to read the Space. */
export type TakeFiles = (
  space: SpaceOfJob,
  of: RunFor,
  directory: string,
  how: {
    note: (sentence: string) => void;
    signal: AbortSignal;
  },
) => Promise<void>;

/** A run may wait for a long time, and meanwhile its webhook may have lost access (S129). */
type MayReceive = (deliveryId: string) => Promise<boolean>;

type RunContext = {
  takeFiles: TakeFiles;
  mayReceive: MayReceive;
  stopping: AbortSignal;
  runner?: Runner;
};

/** A stopping process has 6.5 seconds, in which it must also record the run's end. */
const STOP_GRACE_MS = 3_000;
const PROCESSES = 256;

/** A run is never started twice. If its worker was lost, the run ends as a failure of the runner. */
export async function executeRun(run: ClaimedRun, claimId: string, context: RunContext): Promise<void> {
  const found = context.runner ?? (await findRunner());
  if (run.stage === "RUNNING") {
    if ("endLeftovers" in found) await found.endLeftovers?.(run.id);
    return interrupted(run, claimId);
  }
  const mayReceive = run.delivery_id === null || (await context.mayReceive(run.delivery_id));
  if (!mayReceive || !(await recordStart(run.id, claimId, "refusal" in found ? null : found.name))) {
    await recordEnd(run.id, claimId, cancelled);
    return;
  }
  let secrets: Record<string, string>;
  try {
    secrets = unsealJobSecrets(run.secrets);
  } catch {
    const message = "The job's secrets cannot be read: they were encrypted with another SECRET_KEY. Enter them again.";
    await recordEnd(run.id, claimId, runnerFailed(message));
    return;
  }
  const writer = await LogWriter.open(run.id, claimId, { party: partyOf(run), secrets: Object.values(secrets) });
  let outcome: Outcome;
  try {
    outcome =
      "refusal" in found
        ? runnerFailed(JOBS_OFF)
        : await runCommand(run, { claimId, runner: found, writer, secrets, ...context });
  } catch (error) {
    if (!isServiceError(error)) log().error({ err: error, runId: run.id }, "a job could not be prepared");
    outcome = runnerFailed(
      isServiceError(error)
        ? error.message
        : "The job could not be prepared. Contact the operator, who can find the reason in the service's log.",
    );
  }
  if (outcome.message) writer.note(outcome.message);
  await writer.close();
  await recordEnd(run.id, claimId, outcome);
}

type Running = Omit<RunContext, "runner"> & {
  claimId: string;
  runner: Runner;
  writer: LogWriter;
  secrets: Readonly<Record<string, string>>;
};

/** If another worker may have claimed the run, the command is killed at once. */
async function runCommand(run: ClaimedRun, { claimId, runner, writer, secrets, takeFiles, stopping }: Running): Promise<Outcome> {
  const spec = storedSpecSchema.parse(run.spec);
  const flavor = findFlavor(spec.flavor);
  if (!flavor) return runnerFailed(`The machine size ${spec.flavor} no longer exists. Choose another size.`);
  const refusal = networkRefusal(spec);
  if (refusal) return runnerFailed(refusal);

  const seconds = spec.timeoutSeconds ?? JOB_TIMEOUT_SECONDS;
  const end = new AbortController();
  let why: "cancelled" | "timed out" | "stopping" | "lost" | undefined;
  let execution: Execution | undefined;
  const stopFor = (reason: typeof why) => {
    why ??= reason;
    end.abort();
  };
  let last: NodeJS.Timeout | undefined;
  const stop = () => {
    stopFor("stopping");
    last = setTimeout(() => execution?.kill(), STOP_GRACE_MS);
  };
  const unwatch = watchClaim({
    id: run.id,
    claimId,
    onCancel: () => stopFor("cancelled"),
    onLost: () => {
      why = "lost";
      writer.abandon();
      end.abort();
      execution?.kill();
    },
  });
  if (stopping.aborted) stop();
  stopping.addEventListener("abort", stop);
  const files = spec.spaceId === undefined ? undefined : await makeTaskDirectory("files", run.id);
  let timer: NodeJS.Timeout | undefined;
  try {
    if (files && spec.spaceId) {
      const owner: RunOwner = { kind: run.owner_kind, id: run.owner_id };
      const delegate = await findDelegate({
        ...{ createdById: run.created_by_id, delegationId: run.delegation_id },
        ...{ ownerKind: run.owner_kind, ownerId: run.owner_id },
      });
      const how = { note: (sentence: string) => writer.note(sentence), signal: end.signal };
      await takeFiles({ spaceId: spec.spaceId, space: spec.space }, { owner, delegate }, files, how).catch((error: unknown) => {
        if (!end.signal.aborted) throw error;
      });
    }
    if (end.signal.aborted) return outcomeOf(undefined, why, seconds);
    const { environment, note } = runEnvironment({
      id: run.id,
      payload: run.payload,
      deliveryId: run.delivery_id,
      flavor,
      spec,
      secrets,
    });
    if (note) writer.note(note);
    execution = await runner.start({
      id: run.id,
      image: spec.dockerImage,
      command: [...spec.command, ...spec.arguments],
      environment,
      filesDirectory: files,
      payload: run.payload ?? undefined,
      network: spec.network,
      limits: limitsOf(flavor, seconds),
      onOutput: (stream, bytes) => writer.write(stream, bytes),
      onNote: (sentence) => writer.note(sentence),
      signal: end.signal,
    });
    if (why === "lost") execution.kill();
    timer = setTimeout(() => stopFor("timed out"), seconds * 1_000);
    return outcomeOf(await execution.exited, why, seconds);
  } finally {
    clearTimeout(timer);
    clearTimeout(last);
    unwatch();
    stopping.removeEventListener("abort", stop);
    if (files) await rm(files, { recursive: true, force: true });
  }
}

function networkRefusal({ network }: JobSpec): string | undefined {
  if (!network || env().JOBS_NETWORK === "1") return undefined;
  return "The job requests network access, which is disabled on this server. The operator can enable it with JOBS_NETWORK=1.";
}

function limitsOf(flavor: Flavor, seconds: number): Limits {
  return {
    memoryBytes: flavor.memoryBytes,
    cpus: flavor.cpus,
    processes: PROCESSES,
    scratchBytes: Math.floor(flavor.memoryBytes / 2),
    cpuSeconds: Math.ceil(seconds * flavor.cpus),
  };
}

const cancelled: Outcome = { stage: "CANCELED", exitCode: null, message: "The job was cancelled." };
const runnerFailed = (message: string): Outcome => ({ stage: "ERROR", exitCode: null, message });

/** The exit code of `timeout(1)`. */
const TIMED_OUT = 124;

function outcomeOf(exit: Exit | undefined, why: string | undefined, seconds: number): Outcome {
  if (why === "cancelled") return cancelled;
  if (why === "stopping" || why === "lost" || !exit) return runnerFailed(INTERRUPTED);
  if (exit.kind === "failed") return runnerFailed(exit.reason);
  if (why === "timed out") {
    const message = `The job was stopped: it ran longer than its limit of ${inWords(seconds)}.`;
    return { stage: "ERROR", exitCode: TIMED_OUT, message };
  }
  if (exit.kind === "out_of_memory")
    return { stage: "ERROR", exitCode: 137, message: "The job was stopped: it used more memory than its machine size has." };
  if (exit.code === 0) return { stage: "COMPLETED", exitCode: 0, message: null };
  return { stage: "ERROR", exitCode: exit.code, message: `The command ended with exit code ${exit.code}.` };
}

function inWords(seconds: number): string {
  return seconds % 60 === 0 && seconds > 60 ? `${seconds / 60} minutes` : `${seconds} seconds`;
}

const INTERRUPTED =
  "The worker stopped while the job was running. The job was not run again. Changes that it had already made are not undone.";

async function interrupted(run: ClaimedRun, claimId: string): Promise<void> {
  const writer = await LogWriter.open(run.id, claimId, { party: partyOf(run), secrets: [] });
  writer.note(INTERRUPTED);
  await writer.close();
  await recordEnd(run.id, claimId, run.cancel_requested_at ? cancelled : runnerFailed(INTERRUPTED));
}
