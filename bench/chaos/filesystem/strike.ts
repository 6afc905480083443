import { rmSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { tidy } from "#core/hub/git/maintenance/maintain-repository.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import type { MooseFs, Mount } from "../moosefs.ts";
import { killTree, untilEnded } from "../nodes.ts";
import { type Bench, pathAt } from "./places.ts";
import { startTraffic } from "./traffic.ts";

const SECONDS = 25;

export async function strikeAll(bench: Bench): Promise<boolean> {
  const { fs, anna, bela, start } = bench;
  const again = async (server: MooseFs["master"]) => {
    await delay(5_000);
    if (server.process?.pid) await untilEnded(killTree(server.process.pid));
    await delay(5_000);
    fs.start(server);
    await delay(SECONDS * 1_000 - 10_000);
  };
  const strikes: [name: string, mayFail: boolean, strike: (repos: Repo[]) => Promise<unknown>][] = [
    ["two nodes push", false, () => delay(SECONDS * 1_000)],
    ["maintenance at one node", false, (repos) => maintain(bench, repos)],
    [
      "a node and its mount killed (kill -9) during pushes, three times",
      true,
      async () => {
        for (let time = 0; time < 3; time++) {
          await delay(4_000 + 1_000 * Math.random());
          const pids = killTree(anna.running?.process.pid as number);
          fs.lose(anna.mount as Mount);
          await untilEnded(pids);
          await fs.mount(anna.mount as Mount);
          await start(anna);
        }
      },
    ],
    ["a chunk server killed, and started again", true, () => again(fs.chunkServers[1] as MooseFs["master"])],
    ["the master killed, and started again", true, () => again(fs.master)],
  ];
  console.log(
    "\n| Fault | Acknowledged | Lost | Without an event | Not seen by the other node | Reads | Failed | |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
  );
  let hasPassed = true;
  for (const [index, [name, mayFail, strike]] of strikes.entries()) {
    const traffic = await startTraffic(bench, index);
    await strike(traffic.repos);
    const { confirmed, lost, silent, unseen, reads, failures, broken } = await traffic.end();
    const faults = [
      ...(lost > 0 ? [`${lost} lost`] : []),
      ...(silent > 0 ? [`${silent} without an event`] : []),
      ...(unseen > 0 ? [`${unseen} not seen`] : []),
      ...(failures.length > 0 && !mayFail ? [`${failures.length} failed`] : []),
      ...(confirmed === 0 ? ["nothing was pushed"] : []),
      ...broken,
    ];
    if (faults.length > 0) hasPassed = false;
    if (failures.length > 0)
      console.error(Object.fromEntries([...Map.groupBy(failures, (text) => text)].map(([text, { length }]) => [text, length])));
    if (faults.length > 0) for (const { running } of [anna, bela]) console.error(running?.output().slice(-5_000));
    const word = faults.length > 0 ? `**failed: ${faults.join("; ")}**` : "passed";
    console.log(`| ${[name, confirmed, lost, silent, unseen, reads, failures.length, word].join(" | ")} |`);
  }
  return hasPassed;
}

const LONG_AGO = new Date(Date.now() - 30 * 24 * 60 * 60 * 1_000);

async function maintain({ bela }: Bench, repos: Repo[]): Promise<void> {
  const end = Date.now() + SECONDS * 1_000;
  for (let nth = 0; Date.now() < end; nth++) {
    const path = pathAt(bela, repos[nth % repos.length] as Repo);
    rmSync(join(path, "keyhook-collected"), { force: true });
    // A repository is collected only a week after its creation.
    await utimes(join(path, "config"), LONG_AGO, LONG_AGO);
    await tidy(path);
    await delay(500);
  }
}
