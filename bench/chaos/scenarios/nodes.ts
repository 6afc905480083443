import { setTimeout as delay } from "node:timers/promises";
import { newToken } from "#core/crypto/token.ts";
import { followActivity } from "../activity-streams.ts";
import { prepareUploads } from "../lfs-uploads.ts";
import { makeWebhook } from "../load.ts";
import { claimedNow } from "../measure.ts";
import type { Nodes } from "../nodes.ts";
import { startReceiver } from "../receiver.ts";
import { type Scenario, underLoad } from "../scenario.ts";
import { signInByForm } from "../sign-in-by-form.ts";
import { prepareTraffic } from "../traffic.ts";

const EVERY_MS = 20_000;
const AFTER_SECONDS = 5;
const VICTIMS = ["anna", "dora", "bela", "elsa"];

export function nodeScenarios({ nodes, kill, start }: Nodes): Scenario[] {
  return [
    {
      name: "a node killed every 20 s (kill -9), and started again",
      async run(service) {
        const kills: { from: number; to: number }[] = [];
        const uploads = await prepareUploads(service);
        const traffic = await prepareTraffic(service, {
          mayFail: ({ from, to }) => kills.some((kill) => from <= kill.to && kill.from <= to),
          actions: { uploads: uploads.upload, "sign-ins by the page": () => signInByForm(service.running.origin) },
        });
        const secret = newToken("");
        const pushReceiver = await startReceiver(secret);
        const streams = await followActivity(
          service,
          await makeWebhook(service.ownerId, traffic.repoId, pushReceiver.url, secret),
        );
        const end = traffic.start();
        return underLoad(service, {
          seconds: AFTER_SECONDS + (VICTIMS.length * EVERY_MS) / 1_000,
          perSecond: 50,
          after: AFTER_SECONDS,
          async strike() {
            let inFlight = 0;
            for (const name of VICTIMS) {
              const node = nodes.find((each) => each.name === name) as (typeof nodes)[number];
              const from = Date.now();
              await kill(node);
              kills.push({ from, to: Date.now() });
              if (node.kind === "worker") inFlight += await claimedNow(service);
              await Promise.all([start(node), delay(EVERY_MS)]);
            }
            return { inFlight, at: kills.at(-1)?.to };
          },
          async check() {
            const { note, faults } = await end();
            const lost = await uploads.lost();
            if (lost > 0) faults.push(`${lost} confirmed uploads lost`);
            const { resumed, missed, shown } = await streams.stop();
            if (missed > 0) faults.push(`${missed} deliveries not shown by a live tail`);
            if (resumed === 0) faults.push("no live tail was continued");
            pushReceiver.stop();
            if (faults.length > 0) console.error({ kills });
            return { note: `${note}; live tails: ${resumed} continued, ${shown} deliveries shown`, faults };
          },
        });
      },
    },
  ];
}
