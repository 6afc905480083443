import type { Cluster } from "../cluster.ts";
import { claimedNow } from "../measure.ts";
import { type Scenario, underLoad } from "../scenario.ts";
import type { ChaosService } from "../service.ts";
import { prepareTraffic } from "../traffic.ts";

const WRITES_AGAIN_SECONDS = 30;
const REPAIRED_AFTER_MS = 40_000;

export function failoverScenarios(cluster: Cluster): Scenario[] {
  const scenario = (name: string, strike: () => Promise<(() => void) | undefined>): Scenario => ({
    name,
    async run(service) {
      await cluster.untilHealthy();
      const traffic = await prepareTraffic(service);
      const before = pidsOf(service);
      const end = traffic.start();
      let struckAt = 0;
      return underLoad(service, {
        seconds: 50,
        after: 8,
        async strike() {
          const inFlight = await claimedNow(service);
          struckAt = Date.now();
          const repair = await strike();
          if (!repair) return { inFlight, at: struckAt };
          setTimeout(repair, REPAIRED_AFTER_MS);
          return { inFlight, at: struckAt + REPAIRED_AFTER_MS };
        },
        async check({ recorded }) {
          const { note, faults } = await end();
          const seconds = longestGap([...recorded.values()].filter((at) => at >= struckAt - 1_000)) / 1_000;
          if (seconds > WRITES_AGAIN_SECONDS) faults.push(`no writes for ${seconds} s`);
          if (pidsOf(service) !== before) faults.push("a process of the service was restarted");
          return { note: `no writes for ${seconds.toFixed(1)} s; ${note}`, faults };
        },
      });
    },
  });

  return [
    scenario("primary killed with its Patroni (kill -9)", async () => {
      const node = await cluster.primary();
      cluster.signal(node, "SIGKILL");
      return () => cluster.startNode(node);
    }),
    scenario("switchover", async () => {
      await cluster.switchOver();
      return undefined;
    }),
    scenario("primary frozen with its Patroni (SIGSTOP), continued after 40 s", async () => {
      const node = await cluster.primary();
      cluster.signal(node, "SIGSTOP");
      return () => cluster.signal(node, "SIGCONT");
    }),
  ];
}

const pidsOf = ({ running }: ChaosService): string => `${running.pidOf("server.ts")} ${running.pidOf("worker/index.ts")}`;

function longestGap(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.slice(1).map((at, index) => at - (sorted[index] ?? at)));
}
