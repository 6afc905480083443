import { cpus, loadavg, totalmem } from "node:os";
import { db } from "#core/db.ts";
import { runAbuse } from "./abuse/run.ts";
import { startCluster } from "./cluster.ts";
import { runFilesystem } from "./filesystem/run.ts";
import { type Outcome, rowOf } from "./measure.ts";
import { startNodes } from "./nodes.ts";
import type { Scenario } from "./scenario.ts";
import { failoverScenarios } from "./scenarios/failover.ts";
import * as hosts from "./scenarios/hosts.ts";
import * as kills from "./scenarios/kills.ts";
import { nodeScenarios } from "./scenarios/nodes.ts";
import * as others from "./scenarios/others.ts";
import { startChaosService, versions } from "./service.ts";
import { runStories } from "./stories.ts";
import { runUpgrade } from "./upgrade.ts";

/**
 * `npm run chaos [-- WORD]`: a real service, a real receiver, and faults between them. Exits with 1 if a requirement failed. WORD
 * is `abuse`, `failover`, `nodes`, `stories`, `filesystem`, `upgrade COMMIT`, or part of a scenario's name.
 */
const scenarios: Scenario[] = [
  kills.baseline,
  kills.workerBetweenAnswerAndCommit,
  kills.web,
  kills.postgresKilled,
  kills.postgresRestarted,
  kills.connectionsTerminated,
  hosts.badHosts,
  hosts.endlessBodies,
  hosts.redirects,
  hosts.flippingNames,
  others.replay,
  others.rotation,
  others.largePayload,
  others.clock,
];

const only = process.argv.slice(2);
if (only[0] === "abuse") process.exit(await runAbuse(only.slice(1)));
if (only[0] === "filesystem") process.exit(await runFilesystem(only.slice(1)));
if (only[0] === "stories") process.exit(await runStories(only.slice(1)));
if (only[0] === "upgrade") process.exit(await runUpgrade(only.slice(1)));
const choose = (from: Scenario[], words: string[]): Scenario[] =>
  from.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

const cluster = only[0] === "failover" ? await startCluster() : undefined;
const nodes = only[0] === "nodes" ? await startNodes() : undefined;
const own = cluster ? failoverScenarios(cluster) : nodes && nodeScenarios(nodes);
const chosen = own ? choose(own, only.slice(1)) : choose(scenarios, only);
const service = nodes?.service ?? (await startChaosService(undefined, await cluster?.prepareDatabase()));
let status = 0;
try {
  const [{ version }] = (await db().$queryRaw`select version()`) as [{ version: string }];
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const [busy] = loadavg().map((each) => each.toFixed(1));
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${machine}, ${versions()}, ${version.split(" on ")[0]}; load average ${busy} at the start\n`,
  );
  console.log("| Fault | Sent | Delivered | Lost | Duplicates | In flight | Recovery | |");
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
  for (const { name, run } of chosen) {
    const printed = service.running.output().length;
    const outcome = await run(service).catch(failed);
    console.log(rowOf(name, outcome));
    if (outcome.faults.length === 0) continue;
    status = 1;
    console.error(service.running.output().slice(printed).slice(-20_000));
  }
} finally {
  await service.stop();
  await cluster?.stop();
}
process.exit(status);

function failed(error: unknown): Outcome {
  console.error(error);
  return { sent: 0, delivered: 0, lost: 0, duplicates: 0, faults: [String(error)] };
}
