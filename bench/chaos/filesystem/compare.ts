import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuSeconds } from "../../cost.ts";
import { percentile } from "../measure.ts";
import { type Bench, commitOverApi, env, git, newRepo, originOf, type Place, remoteOf, requireOk, run } from "./places.ts";

const ROUNDS = 5;

export async function compare(bench: Bench): Promise<void> {
  const copy = join(bench.directory, "copy");
  await run("git", ["init", "--quiet", "--initial-branch=main", copy], { env });
  const commit = async () => {
    writeFileSync(join(copy, "tides.bin"), randomBytes(1024 * 1024));
    await git(copy, "add", "--all");
    await git(copy, "commit", "--quiet", "-m", "tides");
  };
  await commit();
  const sides = [];
  for (const place of [bench.disk, bench.anna]) {
    const repo = await newRepo(`compared-${place.name}`);
    const remote = remoteOf(place, repo, bench);
    await git(copy, "push", "--quiet", remote, "main");
    const into = join(bench.directory, `clone-${place.name}`);
    const actions: Record<string, (round: number) => Promise<unknown>> = {
      "push of 1 MB": (round) => git(copy, "push", "--quiet", remote, `HEAD:refs/heads/round-${round}`),
      "clone of 1 MB": () =>
        run("git", ["clone", "--quiet", "--bare", "--single-branch", "--branch=main", remote, into], { env }),
      "ls-remote": () => git(copy, "ls-remote", remote),
      "commit by the API": (round) => commitOverApi(place, repo, bench, `${round}`),
      "page of a repository": () => requireOk(fetch(`${originOf(place)}/${repo.fullName}`)),
    };
    const pids = () => [place.running?.process.pid as number, ...(place.mount ? bench.fs.pids() : [])];
    sides.push({
      actions,
      pids,
      into,
      times: new Map<string, number[]>(),
      cpu: new Map<string, number>(),
      operations: new Map<string, number>(),
      place,
    });
  }
  for (let round = 0; round <= ROUNDS; round++) {
    await git(copy, "checkout", "--quiet", "--detach", "main");
    await commit();
    for (const what of Object.keys(sides[0]?.actions ?? {})) {
      for (const { actions, pids, into, times, cpu, operations, place } of sides) {
        const [before, asked, from] = [cpuOf(pids()), operationsOf(place), performance.now()];
        await actions[what]?.(round);
        const seconds = (performance.now() - from) / 1_000;
        rmSync(into, { recursive: true, force: true });
        if (round === 0) continue;
        times.set(what, [...(times.get(what) ?? []), seconds]);
        cpu.set(what, (cpu.get(what) ?? 0) + cpuOf(pids()) - before);
        operations.set(what, (operations.get(what) ?? 0) + operationsOf(place) - asked);
      }
    }
  }
  const [disk, shared] = sides as [(typeof sides)[number], (typeof sides)[number]];
  console.log(
    "| | Local disk | MooseFS | Ratio | CPU, local disk | CPU, MooseFS | Ratio | File operations |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  );
  for (const [what, times] of disk.times) {
    const pair = [percentile(times, 0.5), percentile(shared.times.get(what) ?? [], 0.5)] as const;
    const cpu = [disk, shared].map((side) => (side.cpu.get(what) ?? 0) / ROUNDS) as [number, number];
    const cells = ([one, other]: readonly [number, number]) => [ms(one), ms(other), (other / one).toFixed(1)];
    console.log(
      `| ${[what, ...cells(pair), ...cells(cpu), Math.round((shared.operations.get(what) ?? 0) / ROUNDS)].join(" | ")} |`,
    );
  }
}

const operationsOf = ({ mount }: Place): number =>
  mount ? Number(/^fuse_ops: (\d+)$/m.exec(readFileSync(join(mount.path, ".stats"), "utf8"))?.[1]) : 0;

const ms = (seconds: number): string => `${Math.round(seconds * 1_000)} ms`;
const cpuOf = (pids: number[]): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
