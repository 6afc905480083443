import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../measure.ts";
import { Attackers, type Tally } from "./attack.ts";
import { attacks } from "./attacks/index.ts";
import { type Sample, startHealthy } from "./healthy.ts";
import { setStage, untilCalm } from "./stage.ts";
import { type Usage, watchService } from "./watch.ts";

/** Memory and counters that another attack left would affect the result, so each attack has its own process and service. */
export type Result = {
  id: string;
  name: string;
  kinds: { kind: string; before: Times; during: Times }[];
  idle: Usage;
  usage: Usage;
  tally: Tally;
  got: string[];
  calmAfterSeconds: number;
  faults: string[];
};

/** Response times in milliseconds. `failed` counts failures by their outcome. */
export type Times = { count: number; p50: number; p99: number; failed: Record<string, number> };

const WARM_UP_SECONDS = 5;
const HEAD_START_MS = 2_000;
const CALM_SECONDS = 30;

const TWICE = 2;
const ALWAYS_ALLOWED_MS = 300;
/** The chart's limits, for the web process with its git processes, and for the worker. */
const WEB_MAX_MIB = 1_536;
const WORKER_MAX_MIB = 2_048;
const DISK_MAX_MIB = 256;
const PROBES_TO_RESTART = 3;

const [id, seconds] = [process.argv[2], Number(process.argv[3])];
const attack = attacks.find((each) => each.id === id);
if (!attack) throw new Error(`there is no attack ${id}`);

const stage = await setStage();
try {
  const attackers = new Attackers(stage.origin);
  const strike = await attack.prepare(stage, attackers);
  const kinds = [...stage.healthy, ...(strike.healthy ?? [])];
  const healthy = startHealthy(stage.origin, kinds);
  // Code that has not run yet and pages that were not loaded yet would distort the measurement.
  await healthy.run(WARM_UP_SECONDS);
  await untilCalm(stage.origin, CALM_SECONDS);
  Object.assign(attackers.tally, { answered: 0, refused: 0, failed: 0, sentBytes: 0, receivedBytes: 0, statuses: {} });

  const idleWatch = watchService(stage.service.running, stage.directories);
  const before = await healthy.run(seconds);
  const idle = await idleWatch.stop();

  const watch = watchService(stage.service.running, stage.directories);
  const ending = new AbortController();
  const striking = strike.run(ending.signal).catch((error: unknown) => console.error(error));
  await delay(HEAD_START_MS);
  const during = await healthy.run(seconds);
  const usage = await watch.stop();
  // Read before the attack ends and releases what it holds.
  const got = (await strike.got?.()) ?? [];
  ending.abort();
  attackers.end();
  await striking;
  const calmAfterSeconds = await untilCalm(stage.origin, CALM_SECONDS);
  await healthy.stop();

  const compared = kinds.map(({ name }) => ({ kind: name, before: timesOf(before, name), during: timesOf(during, name) }));
  const faults = faultsOf(compared, usage, strike.tasksMaxMiB);
  const result: Result = {
    ...{ id: attack.id, name: attack.name, kinds: compared, idle, usage },
    ...{ tally: attackers.tally, got, calmAfterSeconds, faults },
  };
  process.send?.(result);
} catch (error) {
  console.error(stage.service.running.output().slice(-10_000));
  throw error;
} finally {
  await stage.stop();
}
process.exit(0);

function timesOf(samples: Sample[], kind: string): Times {
  const own = samples.filter((each) => each.kind === kind);
  const ms = own.map((each) => each.ms);
  const failed: Record<string, number> = {};
  for (const { outcome } of own) if (outcome !== "ok") failed[outcome] = (failed[outcome] ?? 0) + 1;
  return { count: own.length, p50: Math.round(percentile(ms, 0.5)), p99: Math.round(percentile(ms, 0.99)), failed };
}

function faultsOf(kinds: Result["kinds"], usage: Usage, tasksMaxMiB: number | undefined): string[] {
  const faults: string[] = [];
  for (const { kind, before, during } of kinds) {
    if (Object.keys(before.failed).length > 0)
      faults.push(`${kind}: some failed undisturbed, so this machine is too slow for the measurement`);
    const allowed = Math.max(TWICE * before.p99, ALWAYS_ALLOWED_MS);
    if (during.p99 > allowed) faults.push(`${kind}: p99 ${during.p99} ms, ${allowed} allowed`);
    for (const [outcome, count] of Object.entries(during.failed)) {
      faults.push(`${kind}: ${count} of ${during.count} ${/^\d+$/.test(outcome) ? `answered ${outcome}` : outcome}`);
    }
  }
  if (usage.restarts > 0) faults.push(`${usage.restarts} processes ended`);
  if (usage.missedProbes >= PROBES_TO_RESTART) faults.push(`${usage.missedProbes} liveness probes in a row missed`);
  if (usage.webTreeMiB > WEB_MAX_MIB) faults.push(`web with git ${usage.webTreeMiB} MiB, ${WEB_MAX_MIB} allowed`);
  if (usage.workerMiB > WORKER_MAX_MIB) faults.push(`worker ${usage.workerMiB} MiB, ${WORKER_MAX_MIB} allowed`);
  if (usage.diskMiB > DISK_MAX_MIB) faults.push(`${usage.diskMiB} MiB written to disk, ${DISK_MAX_MIB} allowed`);
  if (tasksMaxMiB !== undefined && usage.tasksMiB > tasksMaxMiB)
    faults.push(`jobs and Spaces had ${usage.tasksMiB} MiB, ${tasksMaxMiB} allowed`);
  return faults;
}
