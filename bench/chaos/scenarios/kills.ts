import { setTimeout as delay } from "node:timers/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createPlatform } from "#core/hub/platforms/manage-platforms.ts";
import { syncRepos } from "#core/hub/platforms/sync-repos.ts";
import { newId } from "#core/ids.ts";
import { everyTick, recordAtRate } from "../load.ts";
import { ask, claimedNow } from "../measure.ts";
import { EVENTS_PER_SECOND, latencyNote, type Scenario, underLoad } from "../scenario.ts";
import type { ChaosService } from "../service.ts";

const kill = (service: ChaosService, what: "worker/index.ts" | "server.ts" | "database", signal: NodeJS.Signals = "SIGKILL") =>
  process.kill(service.running.pidOf(what), signal);

export const baseline: Scenario = {
  name: "nothing",
  run: (service) =>
    underLoad(service, {
      strike: async () => ({}),
      check: async ({ webhookId, recorded, receiver }) => {
        const { p50, p99 } = await latencyNote(service, webhookId, recorded, receiver);
        return { note: `event to arrival p50 ${p50} ms, p99 ${p99} ms` };
      },
    }),
};

/** The worker is killed when the receiver responds, before it can record the response. */
export const workerBetweenAnswerAndCommit: Scenario = {
  name: "worker killed between response and commit, 3 times",
  run: (service) =>
    underLoad(service, {
      seconds: 14,
      after: 3,
      async strike({ receiver }) {
        const plain = receiver.answer;
        let inFlight = 0;
        for (let times = 0; times < 3; times++) {
          const killed = Promise.withResolvers<void>();
          receiver.answer = (_request, response) => {
            receiver.answer = plain;
            kill(service, "worker/index.ts");
            response.end();
            killed.resolve();
          };
          await killed.promise;
          inFlight += await claimedNow(service);
          await delay(3_000);
        }
        return { inFlight, at: Date.now() - 3_000 };
      },
    }),
};

/** Only events that the API has confirmed count. */
export const web: Scenario = {
  name: "web process killed, events by its API",
  async run(service) {
    const name = `chaos-${newId()}.example`;
    const platform = await createPlatform(operatorCommand, { name, source: `https://${name}` }, noOrigin);
    const url = `https://${name}/tides`;
    const repo = { id: 1, type: "model", name: `mara/${newId()}`, private: false, url };
    await syncRepos(platform, { repos: [repo] }, noOrigin);
    const { id: watched } = await db().repo.findFirstOrThrow({ where: { platformId: platform.id } });
    return underLoad(service, {
      async load(repoId) {
        await db().webhookWatch.updateMany({ where: { watchedId: repoId }, data: { watchedId: watched } });
        const confirmed = new Map<string, number>();
        await everyTick(EVENTS_PER_SECOND, 12, async (count) => {
          const at = Date.now();
          const events = Array.from({ length: count }, () => ({
            ...{ specversion: "1.0", id: newId(), source: platform.source, type: "repo.update" },
            data: { repo: { externalId: 1 } },
          }));
          for (const id of await sendEvents(service, platform.token, events)) confirmed.set(id, at);
        });
        return confirmed;
      },
      async strike() {
        kill(service, "server.ts");
        return { inFlight: 0 };
      },
    });
  },
};

async function sendEvents(service: ChaosService, token: string, events: unknown[]): Promise<string[]> {
  for (let tries = 0; tries < 60; tries++) {
    try {
      const response = await fetch(`${service.running.origin}/api/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/cloudevents-batch+json" },
        body: JSON.stringify(events),
        signal: AbortSignal.timeout(5_000),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return [...text.matchAll(/"eventId":"([0-9a-f]{24})"/g)].map(([, id]) => id as string);
    } catch {
      await delay(250);
    }
  }
  return [];
}

export const postgresKilled: Scenario = {
  name: "Postgres killed",
  run: (service) =>
    underLoad(service, {
      async strike() {
        const inFlight = await claimedNow(service);
        kill(service, "database");
        return { inFlight };
      },
    }),
};

/** After the restart, notifications must announce events again, so that the worker does not wait for its next poll. */
export const postgresRestarted: Scenario = {
  name: "Postgres restarted under LISTEN",
  run: (service) =>
    underLoad(service, {
      async strike() {
        kill(service, "database", "SIGINT");
        return {};
      },
      async check({ webhookId, receiver }) {
        const [watch] = await db().webhookWatch.findMany({ where: { webhookId } });
        await delay(2_000);
        const later = await recordAtRate(watch?.watchedId ?? "", service.ownerId, 5, 4);
        await delay(2_000);
        const { p50 } = await latencyNote(service, webhookId, later, receiver);
        const faults = p50 < 500 ? [] : [`notifications do not arrive: p50 ${p50} ms`];
        return { note: `5/s after it: p50 ${p50} ms`, faults };
      },
    }),
};

export const connectionsTerminated: Scenario = {
  name: "pg_terminate_backend of all, every second",
  run: (service) =>
    underLoad(service, {
      async strike() {
        let ended = 0;
        for (let times = 0; times < 6; times++) {
          const rows = await ask<{ ended: boolean }>(
            service,
            `select pg_terminate_backend(pid) as ended from pg_stat_activity
              where usename = current_user and pid <> pg_backend_pid() and application_name <> 'chaos'`,
          );
          ended += rows.filter((row) => row.ended).length;
          await delay(1_000);
        }
        return { at: Date.now() - 1_000, inFlight: ended > 0 ? 0 : undefined };
      },
    }),
};
