import { setTimeout as delay } from "node:timers/promises";
import type { EventPayload } from "@keyhook/sdk";
import { seal } from "#core/crypto/seal.ts";
import { db } from "#core/db.ts";
import { recordEvents } from "#core/events/record-event.ts";
import { newId } from "#core/ids.ts";

/** The webhook watches an ID without a repository, so that each scenario can have an ID of its own. */
export async function makeWebhook(ownerId: string, repoId: string, url: string, secret: string): Promise<string> {
  const id = newId();
  await db().webhook.create({
    data: { id, ownerId, ownerKind: "user", url, domains: ["repo"], secret: seal("webhook secret", secret) },
  });
  // Prisma is not used, because the client of older versions has another name for the field (upgrade.ts).
  await db().$executeRaw`insert into webhook_watch (webhook_id, type, target_id) values (${id}, 'model', ${repoId})`;
  return id;
}

export function pushPayload(repoId: string, ownerId: string): EventPayload {
  const url = { web: "https://hub.example.com/mara/tides", api: "https://hub.example.com/api/models/mara/tides" };
  return {
    event: { scope: "repo.content", action: "update" },
    repo: { type: "model", name: "mara/tides", id: repoId, private: false, url, owner: { id: ownerId }, tags: [] },
    updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: "b0714518683b3c93840eb60ca2d13c9288eecad0" }],
  } as EventPayload;
}

/** @returns the IDs of the events whose commit was confirmed, with the time at which each recording began */
export async function recordAtRate(
  repoId: string,
  ownerId: string,
  perSecond: number,
  seconds: number,
): Promise<Map<string, number>> {
  const confirmed = new Map<string, number>();
  const payload = pushPayload(repoId, ownerId);
  await everyTick(perSecond, seconds, async (count) => {
    const at = Date.now();
    const events = Array.from({ length: count }, () => ({ payload, actorId: null }));
    const ids = await db().$transaction((tx) => recordEvents(tx, events));
    for (const id of ids) confirmed.set(id, at);
  });
  return confirmed;
}

const TICK_MS = 50;

/** Calls `run` twenty times a second, without waiting for the previous call. Skips items that are due while 50 calls run. */
export async function everyTick(perSecond: number, seconds: number, run: (count: number) => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const running = new Set<Promise<void>>();
  let sent = 0;
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - startedAt) / 1_000) {
    const due = Math.floor(elapsed * perSecond) - sent;
    sent += due;
    if (due > 0 && running.size < 50) {
      const one: Promise<void> = run(due)
        .catch(() => undefined)
        .finally(() => running.delete(one));
      running.add(one);
    }
    await delay(TICK_MS);
  }
  await Promise.all(running);
}
