import { setTimeout as delay } from "node:timers/promises";
import { env } from "#core/env.ts";
import { findRunner } from "#core/jobs/runners/find-runner.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { startGateway } from "#core/spaces/gateway/start-gateway.ts";
import { SpaceHost } from "#core/spaces/run/space-host.ts";
import { spaceTable } from "#core/spaces/run/space-table.ts";
import { sweepLeftFiles } from "#core/spaces/run/sweep-left-files.ts";
import { SPACE_CHANNEL } from "#core/spaces/stages.ts";
import { type Loop, startLoop } from "./loop.ts";

// That a Space is idle, disabled or deleted is not announced, and an announcement may be missed.
const CHECK_MS = 2_000;

/** Runs Spaces that serve: each is claimed while it runs, so that another worker takes it over if this one dies (S122). */
export async function startSpaces(): Promise<Loop> {
  const { SPACES_CONCURRENCY: concurrency } = env();
  if (concurrency === 0) return { stop: async () => undefined };
  await sweepLeftFiles();
  const gateway = await startGateway();
  const host = new SpaceHost(findRunner, gateway);
  const stopping = new AbortController();

  const check = () =>
    host.check(concurrency).catch((error: unknown) => log().warn({ err: error }, "cannot look after Spaces; trying again"));
  await listen(SPACE_CHANNEL, (repoId) => {
    if (repoId === "" || host.has(repoId)) void check();
  });
  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      await delay(CHECK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) await check();
    }
  }

  const cycling = cycle();
  const loop = await startLoop<{ id: string }>({
    table: spaceTable,
    channel: SPACE_CHANNEL,
    concurrency,
    run: ({ id }, claimId) => host.run(id, claimId),
  });
  return {
    async stop() {
      stopping.abort();
      // Others take over released Spaces at once; this worker claims no more.
      const stopped = loop.stop();
      host.leave();
      await Promise.all([stopped, cycling]);
      await gateway.stop();
    },
  };
}
