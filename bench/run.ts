import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DEVICE_CODE_GRANT } from "#core/oauth/grant-types.ts";
import { POLL_INTERVAL_SECONDS } from "#core/oauth/lifetimes.ts";
import { startBare } from "./bare-target.ts";
import { cpuSeconds, statementsSoFar } from "./cost.ts";
import { benchGit } from "./git.ts";
import { load, type Prepared, pace, type Result } from "./load.ts";
import {
  bearerRequests,
  codeExchanges,
  codeRequest,
  form,
  introspections,
  refreshes,
  tokenExchanges,
  tokenRequest,
} from "./requests.ts";
import { benchScale } from "./scale.ts";
import { DEVICES, startService, type Target } from "./targets.ts";

/**
 * `npm run bench`: only the ratios are meaningful, because both targets share the machine's cores with the load.
 * `npm run bench -- scale` and `npm run bench -- connections` run scale.ts and connections.ts.
 */

// The service below changes this process's settings, which the other benchmarks must not inherit.
const environment = { ...process.env };
if (process.argv[2] === "scale") {
  await benchScale(Number(process.argv[3] ?? 5));
  process.exit();
}
if (process.argv[2] === "connections") process.exit(runScript("connections"));
// The engine's in-memory store keeps only its 1,000 newest entries.
const BATCH = 100;
const ROUNDS = Number(process.argv[2] ?? 6);
const ONLY = process.argv[3] ?? "";
const PACED_ROUNDS = 3;

type Row = Result & { cpuMs: number; statements?: number };
type Measure = { name: string; aim?: number; baseline?: string; run(target: Target): Promise<Row | undefined> };

/** CPU seconds of all the service's processes, and statements of its web process. */
async function cost<T>(target: Target, run: () => Promise<T>): Promise<{ result: T; cpu: number; statements: number }> {
  const statements = () => (target.statementsSocket ? statementsSoFar(target.statementsSocket) : 0);
  const before = { cpu: cpuSeconds(target.pid), statements: await statements() };
  const result = await run();
  return { result, cpu: cpuSeconds(target.pid) - before.cpu, statements: (await statements()) - before.statements };
}

async function measure(target: Target, status: number, batch: () => Promise<Prepared[]>): Promise<Row> {
  await load(target.origin, await batch(), status);
  let requests = 0;
  let seconds = 0;
  let cpu = 0;
  let statements = 0;
  const times: Result[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const prepared = await batch();
    const part = await cost(target, () => load(target.origin, prepared, status));
    cpu += part.cpu;
    statements += part.statements;
    requests += part.result.requests;
    seconds += part.result.seconds;
    times.push(part.result);
  }
  const median = (pick: (result: Result) => number) => times.map(pick).sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  return {
    requests,
    seconds,
    requestsPerSecond: requests / seconds,
    p50Ms: median((result) => result.p50Ms),
    p99Ms: median((result) => result.p99Ms),
    cpuMs: (cpu / requests) * 1000,
    ...(target.statementsSocket && { statements: statements / requests }),
  };
}

const repeat = (count: number, request: Prepared): Prepared[] => Array.from({ length: count }, () => request);
const READS = BATCH * 10;

const devicePoll = (target: Target, code: string): Prepared => ({
  method: "POST",
  path: target.paths.token,
  headers: form,
  body: new URLSearchParams({ grant_type: DEVICE_CODE_GRANT, device_code: code, client_id: target.deviceClientId }).toString(),
});

async function measureReads(target: Target, status: number, requests: Prepared[]): Promise<Row> {
  let next = 0;
  const take = () => requests[next++ % requests.length] as Prepared;
  return measure(target, status, async () => Array.from({ length: READS }, take));
}

async function pollAtPace(target: Target): Promise<void> {
  const polls = (await target.makeDeviceCodes(target.deviceClientId)).map((code) => devicePoll(target, code));
  const perSecond = DEVICES / POLL_INTERVAL_SECONDS;
  await pace(target.origin, polls, perSecond, 400);
  const rounds = Array.from({ length: PACED_ROUNDS }, () => polls).flat();
  const { result, cpu, statements } = await cost(target, () => pace(target.origin, rounds, perSecond, 400));
  const { requests, requestsPerSecond, p50Ms, p99Ms, seconds } = result;
  console.log(
    `${DEVICES} devices, a poll every ${POLL_INTERVAL_SECONDS} s: ${requestsPerSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)} ms, ` +
      `p99 ${p99Ms.toFixed(1)} ms, CPU ${((cpu / requests) * 1000).toFixed(2)} ms a poll (${(cpu / seconds).toFixed(2)} cores), ` +
      `${(statements / requests).toFixed(2)} statements a poll`,
  );
}

const measures: Measure[] = [
  {
    name: "code exchange",
    aim: 0.4,
    run: (target) => measure(target, 200, () => codeExchanges(target, BATCH)),
  },
  {
    name: "refresh",
    aim: 0.4,
    run: (target) => measure(target, 200, () => refreshes(target, BATCH)),
  },
  {
    name: "token exchange",
    aim: 0.4,
    run: (target) => measureReads(target, 200, tokenExchanges(target, "profile")),
  },
  {
    name: "token exchange, ID token",
    baseline: "token exchange",
    run: async (target) =>
      target.statementsSocket ? measureReads(target, 200, tokenExchanges(target, "openid profile")) : undefined,
  },
  {
    name: "userinfo",
    aim: 0.6,
    run: async (target) => measureReads(target, 200, await bearerRequests(target, target.paths.userinfo)),
  },
  {
    name: "whoami-v2",
    aim: 0.6,
    baseline: "userinfo",
    run: async (target) => {
      const { whoami } = target.paths;
      if (!whoami) return undefined;
      return measureReads(target, 200, await bearerRequests(target, whoami));
    },
  },
  {
    name: "introspection",
    aim: 0.6,
    run: async (target) => measureReads(target, 200, await introspections(target)),
  },
  {
    name: "device poll",
    aim: 0.6,
    run: async (target) => {
      const codes = await target.makeDeviceCodes(target.deviceClientId);
      const polls = codes.map((code) => devicePoll(target, code));
      return measureReads(target, 400, polls);
    },
  },
  {
    // These polls go through the whole engine, as all polls would without `answerPendingPoll`.
    name: "device poll, with a secret",
    run: async (target) => {
      const codes = await target.makeDeviceCodes(target.clientId);
      const polls = codes.map((code) => tokenRequest(target, { grant_type: DEVICE_CODE_GRANT, device_code: code }));
      return measureReads(target, 400, polls);
    },
  },
  {
    name: "authorize, stored consent",
    run: (target) => measure(target, 303, async () => repeat(BATCH, codeRequest(target))),
  },
];

const bare = await startBare();
const service = await startService();
let status = 1;
try {
  console.log(`ratio = requests/s of ${service.name} ÷ ${bare.name}; ${ROUNDS} rounds, 16 connections`);
  console.log("                             ratio   aim     ours/s    bare/s   p99 ms  CPU ms (bare)  statements");
  const baselines = new Map<string, Row>();
  for (const { name, aim, baseline, run } of measures.filter((each) => each.name.includes(ONLY))) {
    await bare.agree();
    const theirs = (await run(bare)) ?? baselines.get(baseline ?? "");
    const ours = await run(service);
    if (!ours || !theirs) continue;
    baselines.set(name, theirs);
    const ratio = ours.requestsPerSecond / theirs.requestsPerSecond;
    const cells = [
      name.padEnd(27),
      ratio.toFixed(2).padStart(6),
      (aim === undefined ? "–" : `≥ ${aim}`).padStart(6),
      ours.requestsPerSecond.toFixed(0).padStart(9),
      theirs.requestsPerSecond.toFixed(0).padStart(9),
      ours.p99Ms.toFixed(1).padStart(8),
      `${ours.cpuMs.toFixed(2)} (${theirs.cpuMs.toFixed(2)})`.padStart(14),
      (ours.statements ?? 0).toFixed(2).padStart(10),
    ];
    console.log(cells.join(" "));
  }
  if ("device poll".includes(ONLY)) await pollAtPace(service);
  if ("git".includes(ONLY)) await benchGit(service);
  status = 0;
} catch (error) {
  console.error(error);
} finally {
  await service.stop();
  await bare.stop();
}
const others = {
  "lists of repositories": "repo-lists",
  "access decision": "access",
  "matching webhooks": "match",
  receivers: "receiver",
};
for (const [name, file] of Object.entries(others)) {
  if (status !== 0 || !name.includes(ONLY)) continue;
  status = runScript(file);
}
process.exit(status);

function runScript(file: string): number {
  return (
    spawnSync(process.execPath, [join(import.meta.dirname, `${file}.ts`)], { stdio: "inherit", env: environment }).status ?? 1
  );
}
