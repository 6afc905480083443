import { mkdtemp, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { env } from "../../env.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { findFlavor, flavors } from "../../jobs/flavors.ts";
import type { NoRunner } from "../../jobs/runners/find-runner.ts";
import type { Execution, Exit, Runner } from "../../jobs/runners/runner.ts";
import { log } from "../../log.ts";
import { appPath, appUrl } from "../app-address.ts";
import type { Gateway } from "../gateway/start-gateway.ts";
import { LogWriter } from "../logs/log-writer.ts";
import { readSpaceConfig, type ServiceConfig } from "../space-config.ts";
import { SPACE_FLAVOR, SPACES_OFF } from "../stages.ts";
import { readSpaceEnvironment } from "../variables.ts";
import { type AppConnector, openAppConnector } from "./app-connector.ts";
import { CannotLayOut, layOutFiles } from "./lay-out-files.ts";
import { type End, type Run, recordStage } from "./record-run.ts";
import { leftPrefix, nameOf } from "./sweep-left-files.ts";

const START_SECONDS = 60;
export const RESTARTS_MAX = 5;
const STEADY_SECONDS = 60;

export type StopReason = "superseded" | "idle" | "leaving" | "displaced";

type Hosting = { runner: Runner | NoRunner; gateway: Gateway; signal: AbortSignal };

/**
 * @param hosting the reason of its aborted `signal` is a StopReason
 * @returns undefined if the end is already recorded, or the run was paused, restarted or taken over
 */
export async function runSpace(
  repo: Repo,
  run: Run & { restarts: number; party: string },
  hosting: Hosting,
): Promise<End | undefined> {
  const config = readSpaceConfig(repo);
  const commit = repo.headSha;
  if (commit === null) return { kind: "rest", stage: "NO_APP_FILE", message: "There are no commits yet." };
  if (config.kind === "unusable") return { kind: "rest", stage: "CONFIG_ERROR", message: config.message };
  if (!(await recordStage(run, { stage: "BUILDING", commit }))) return undefined;
  // The web process serves static files from git, so nothing runs.
  if (config.kind === "static") return { kind: "rest", stage: "RUNNING" };
  const { runner } = hosting;
  if ("refusal" in runner || !canRunSpaces(runner)) {
    const reason =
      "refusal" in runner ? runner.refusal : `JOBS_RUNNER=${runner.name} cannot run Spaces; bubblewrap and docker can`;
    log().warn({ repoId: repo.id, reason }, "a Space cannot run here");
    return { kind: "rest", stage: "RUNTIME_ERROR", message: SPACES_OFF };
  }
  const { environment, secrets } = await readSpaceEnvironment(repo.id);
  const writer = await LogWriter.open(repo.id, { party: run.party, secrets });
  // The sandbox's user must not be able to enter the service's own temporary folder.
  const directory = await mkdtemp(`${leftPrefix()}${nameOf(run)}-`);
  const doorway = await mkdtemp(`${leftPrefix()}${nameOf(run)}-`);
  let door: AppConnector | undefined;
  try {
    writer.note(`starting ${commit.slice(0, 7)} at ${new Date().toISOString()}`);
    const problem = await layOut(repo, commit, { directory, config, writer, signal: hosting.signal });
    if (hosting.signal.aborted) return stopped(hosting.signal.reason as StopReason, writer);
    if (problem) return problem;
    if (!(await recordStage(run, { stage: "APP_STARTING" }))) return undefined;
    door = await openAppConnector(doorway);
    const given = { ...spaceEnvironment(repo, config), ...environment };
    return await serve(run, { config, directory, door, environment: given, writer }, { ...hosting, runner });
  } finally {
    door?.close();
    await writer.close();
    await rm(directory, { recursive: true, force: true });
    await rm(doorway, { recursive: true, force: true });
  }
}

/** Only these runners can mount the app connector's directory. */
const canRunSpaces = ({ name }: Runner): boolean => name === "bubblewrap" || name === "docker";

type LayingOut = Pick<Service, "directory" | "config" | "writer"> & { signal: AbortSignal };

async function layOut(
  repo: Repo,
  commit: string,
  { directory, config: { appFile }, writer, signal }: LayingOut,
): Promise<End | undefined> {
  try {
    const paths = await layOutFiles(repo, commit, directory, { note: (sentence) => writer.note(sentence), signal });
    if (appFile === undefined || paths.has(appFile)) return undefined;
    return {
      kind: "rest",
      stage: "NO_APP_FILE",
      message: `There is no file ${appFile}. Add it, or set app_file to another one.`,
    };
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof CannotLayOut)) throw error;
    writer.note(error.message);
    return { kind: "rest", stage: "BUILD_ERROR", message: error.message };
  }
}

type Service = {
  config: ServiceConfig;
  directory: string;
  door: AppConnector;
  environment: Record<string, string>;
  writer: LogWriter;
};

async function serve(
  run: Run & { restarts: number },
  service: Service,
  { runner, gateway, signal }: Omit<Hosting, "runner"> & { runner: Runner },
): Promise<End | undefined> {
  const { config, directory, door, environment, writer } = service;
  const stopping = new AbortController();
  const execution = await runner.start({
    id: run.repoId,
    command: door.through(config.port, config.command),
    environment,
    filesDirectory: directory,
    socketDirectory: door.directory,
    network: false,
    limits: limits(),
    onOutput: (stream, bytes) => writer.output(stream, bytes),
    onNote: (sentence) => writer.note(sentence),
    signal: stopping.signal,
  });
  let startedAt: number | undefined;
  const flooded = door.flooded.then(() => "flooded" as const);
  const late = new AbortController();
  try {
    const first = await Promise.race([
      execution.exited,
      aborted(signal),
      flooded,
      door.opened.then(() => "listening" as const),
      delay(START_SECONDS * 1_000, "late" as const, { signal: late.signal }).catch(() => "late" as const),
    ]);
    if (first === "late") {
      writer.note(`nothing listened on port ${config.port} for ${START_SECONDS} seconds`);
      return crashed(run, `The app did not listen on port ${config.port} within ${START_SECONDS} seconds.`, undefined);
    }
    const isListening = first === "listening";
    if (isListening) {
      gateway.add(run.repoId, door.connect);
      startedAt = performance.now();
      writer.note(`listening on port ${config.port}`);
      if (!(await recordStage(run, { stage: "RUNNING", address: gateway.address }))) return undefined;
    }
    const exit = isListening ? await Promise.race([execution.exited, aborted(signal), flooded]) : first;
    if (exit === "aborted") return stopped(signal.reason as StopReason, writer);
    if (exit === "flooded") {
      execution.kill();
      writer.note(FLOODED);
      return crashed(run, FLOODED, startedAt);
    }
    const [note, message] = endingOf(exit);
    writer.note(note);
    if (exit.kind === "failed" && startedAt === undefined)
      log().warn({ repoId: run.repoId, reason: message }, "a Space could not be run");
    return crashed(run, message, startedAt);
  } finally {
    late.abort();
    gateway.remove(run.repoId);
    stopping.abort();
    await ended(execution);
  }
}

const FLOODED = "The app opened too many connections to the service.";

function stopped(reason: StopReason, writer: LogWriter): End | undefined {
  if (reason === "superseded") return undefined;
  if (reason === "leaving") return { kind: "again", delaySeconds: 0 };
  writer.note(reason === "idle" ? "asleep: no requests for a while" : "asleep: others are waiting for its slot");
  // If the Space yielded its slot, the end is already recorded.
  return reason === "displaced" ? undefined : { kind: "rest", stage: "SLEEPING" };
}

/** Each restart waits twice as long as the one before, until the app has crashed too often. */
function crashed({ restarts }: { restarts: number }, message: string, startedAt: number | undefined): End {
  const wasSteady = startedAt !== undefined && performance.now() - startedAt >= STEADY_SECONDS * 1_000;
  const count = wasSteady ? 1 : restarts + 1;
  if (count > RESTARTS_MAX) return { kind: "rest", stage: "RUNTIME_ERROR", message };
  return { kind: "again", restarts: count, delaySeconds: 2 ** (count - 1) * 0.5, message };
}

function endingOf(exit: Exit): [note: string, message: string] {
  if (exit.kind === "failed") return [exit.reason, exit.reason];
  if (exit.kind === "out_of_memory") return ["ended: out of memory", "The app used more memory than allowed."];
  return [`ended with exit code ${exit.code}`, `The app ended with exit code ${exit.code}.`];
}

function limits() {
  const flavor = findFlavor(SPACE_FLAVOR) ?? flavors()[0];
  const { memoryBytes = 2 * 1024 ** 3, cpus = 2 } = flavor ?? {};
  return { memoryBytes, cpus, processes: 256, scratchBytes: 512 * 1024 ** 2, cpuSeconds: 10 * 365 * 24 * 60 * 60 };
}

function aborted(signal: AbortSignal): Promise<"aborted"> {
  if (signal.aborted) return Promise.resolve("aborted");
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted"), { once: true }));
}

/** A process that the runner kills is gone only a moment later. */
async function ended(execution: Execution): Promise<void> {
  await execution.exited.catch(() => undefined);
}

function spaceEnvironment(repo: Repo, { port }: Pick<ServiceConfig, "port">): Record<string, string> {
  return {
    PORT: String(port),
    HOST: "127.0.0.1",
    NODE_ENV: "production",
    SPACE_ID: repo.fullName,
    SPACE_AUTHOR_NAME: repo.owner.handle,
    SPACE_REPO_NAME: repo.name,
    // Contains the app's path, because libraries prepend `https://` and append another path.
    SPACE_HOST: new URL(env().ORIGIN).host + appPath(repo).replace(/\/$/, ""),
    SPACE_URL: appUrl(repo),
    SPACE_BASE_PATH: appPath(repo),
    OPENID_PROVIDER_URL: env().ORIGIN,
  };
}
