import { jobSpecSchema } from "@keyhook/sdk";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { seal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { readLogEnd } from "../../jobs/logs/read-log.ts";
import { bubblewrap } from "../../jobs/runners/bubblewrap/bubblewrap.ts";
import type { Runner } from "../../jobs/runners/runner.ts";
import { executeRun } from "../../jobs/runs/execute-run.ts";
import { type ClaimedRun, jobTable } from "../../jobs/runs/job-table.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { mayReceiveDelivery } from "../activity/read-delivery.ts";
import { queueDeliveries, someOwner } from "../testing/deliveries.ts";
import { wakeDelivery } from "./deliver-to-job.ts";
import { DeliveryEngine } from "./delivery-engine.ts";

beforeEach(async () => {
  await pool().query("delete from delivery_queue");
  await pool().query("delete from job_run");
});

async function webhookWithJob(script: string): Promise<string> {
  const id = newId();
  const job = jobSpecSchema.parse({ command: ["sh", "-c", script], environment: { GREETING: "hello" } });
  const sealed = { secret: seal("webhook secret", "webhook-s3cret"), jobSecrets: seal("job secrets", '{"TOKEN":"job-s3cret"}') };
  await db().webhook.create({ data: { id, ownerId: await someOwner(), ownerKind: "user", domains: ["repo"], job, ...sealed } });
  return id;
}

function startEngines(): void {
  const engines = [new DeliveryEngine(), new DeliveryEngine()];
  for (const engine of engines) engine.start();
  onTestFinished(async () => void (await Promise.all(engines.map((engine) => engine.stop()))));
}

async function work(runner: Runner): Promise<void> {
  const { claimId, rows } = await claimRows<ClaimedRun>(jobTable, 10);
  await Promise.all(
    rows.map(async (row) => {
      const stopping = new AbortController().signal;
      await executeRun(row, claimId, { takeFiles: async () => undefined, mayReceive: mayReceiveDelivery, stopping, runner });
      if (row.delivery_id) await wakeDelivery(row.delivery_id);
    }),
  );
}

const runsOf = (deliveryId: string) => db().jobRun.findMany({ where: { deliveryId }, orderBy: { id: "asc" } });
const attemptsOf = (deliveryId: string) => db().attempt.findMany({ where: { deliveryId }, orderBy: { id: "asc" } });
const waitFor = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 10_000, interval: 20 });

const broken: Runner = {
  name: "bubblewrap",
  start: async () => ({ exited: Promise.resolve({ kind: "failed", reason: "No sandbox today." }), kill: () => undefined }),
};

describe("a delivery to a job", () => {
  it("S133 runs the job once with the payload of its event, even with two workers", async () => {
    const webhookId = await webhookWithJob('echo "$WEBHOOK_PAYLOAD"; echo $GREETING $WEBHOOK_ID $TOKEN $WEBHOOK_SECRET | rev');
    const [id = ""] = await queueDeliveries(webhookId);
    startEngines();
    await waitFor(async () => expect(await runsOf(id)).toHaveLength(1));
    await work(bubblewrap);
    await waitFor(async () => expect(await db().delivery.findFirst({ where: { id } })).toMatchObject({ state: "delivered" }));
    const runs = await runsOf(id);
    expect(runs).toMatchObject([
      { stage: "COMPLETED", initiator: { type: "webhook", id: webhookId }, deliveryTry: 1, webhookId },
    ]);
    expect(await attemptsOf(id)).toMatchObject([{ number: 1, outcome: "delivered", jobRunId: runs[0]?.id, status: null }]);
    const log = (await readLogEnd(runs[0]?.id ?? "", { lines: 100 })).chunks.map(({ text }) => text).join("");
    const [payload = "", reversed = ""] = log.split("\n");
    expect(JSON.parse(payload)).toMatchObject({ event: { scope: "repo" }, webhook: { id: webhookId, version: 3 } });
    const told = [...reversed].reverse().join("");
    expect(told).toBe(`hello ${id} job-s3cret webhook-s3cret`);
    expect(await db().deliveryQueue.count({ where: { id } })).toBe(0);
  });

  it("S129 is not run if its payload may no longer be disclosed when its turn comes", async () => {
    const webhookId = await webhookWithJob('echo "$WEBHOOK_PAYLOAD"');
    const [id = ""] = await queueDeliveries(webhookId);
    startEngines();
    await waitFor(async () => expect(await runsOf(id)).toHaveLength(1));
    const { eventId = "" } = (await db().delivery.findUnique({ where: { id } })) ?? {};
    await db().event.update({ where: { id: eventId }, data: { isPrivate: true, ownerId: newId() } });
    await work(bubblewrap);
    const [run] = await runsOf(id);
    expect(run).toMatchObject({ stage: "CANCELED", startedAt: null });
    expect((await readLogEnd(run?.id ?? "", { lines: 1 })).chunks).toEqual([]);
  });

  it("waits while its owner has the maximum number of open runs", async () => {
    const webhookId = await webhookWithJob("true");
    const { ownerId } = await db().webhook.findUniqueOrThrow({ where: { id: webhookId } });
    await pool().query(
      `INSERT INTO job_run (id, owner_id, owner_kind, initiator, spec, stage)
       SELECT lpad(to_hex(n), 24, '0'), $1, 'user', '{"type":"user","id":"x"}', '{}', 'SCHEDULING' FROM generate_series(1, 200) n`,
      [ownerId],
    );
    const [id = ""] = await queueDeliveries(webhookId);
    startEngines();
    const soon = new Date(Date.now() + 10_000);
    await waitFor(async () => expect(await db().deliveryQueue.count({ where: { id, dueAt: { gt: soon } } })).toBe(1));
    expect(await runsOf(id)).toEqual([]);
    await pool().query("DELETE FROM job_run WHERE owner_id = $1", [ownerId]);
    await wakeDelivery(id);
    await waitFor(async () => expect(await runsOf(id)).toHaveLength(1));
  });

  it("S130 S134 whose secrets can no longer be decrypted fails with a reason instead of being run", async () => {
    const webhookId = await webhookWithJob("true");
    await db().webhook.update({ where: { id: webhookId }, data: { jobSecrets: Buffer.from("sealed with another key") } });
    const [id = ""] = await queueDeliveries(webhookId);
    startEngines();
    await waitFor(async () =>
      expect(await attemptsOf(id)).toMatchObject([{ outcome: "rejected", reason: expect.stringContaining("secrets") }]),
    );
    expect(await runsOf(id)).toEqual([]);
  });

  it("S125 is retried with another run if its runner fails, but not if the job itself fails", async () => {
    const webhookId = await webhookWithJob("exit 9");
    const [id = ""] = await queueDeliveries(webhookId);
    startEngines();
    await waitFor(async () => expect(await runsOf(id)).toHaveLength(1));
    await work(broken);
    await waitFor(async () => expect(await attemptsOf(id)).toHaveLength(1));
    const [first] = await attemptsOf(id);
    expect(first).toMatchObject({ outcome: "unreachable", reason: expect.stringContaining("no sandbox today") });
    expect(first?.nextDueAt).not.toBeNull();

    await pool().query("update delivery_queue set due_at = now() where id = $1", [id]);
    await waitFor(async () => expect(await runsOf(id)).toHaveLength(2));
    await work(bubblewrap);
    await waitFor(async () =>
      expect(await db().delivery.findFirst({ where: { id } })).toMatchObject({ state: "failed", attempts: 2 }),
    );
    expect((await runsOf(id)).map(({ deliveryTry }) => deliveryTry)).toEqual([1, 2]);
    const [, second] = await attemptsOf(id);
    expect(second).toMatchObject({ outcome: "rejected", reason: "the command ended with exit code 9", nextDueAt: null });
  });
});
