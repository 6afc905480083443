import { unseal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { createRun, hasRoom } from "../../jobs/runs/request-run.ts";
import { storedSpecSchema } from "../../jobs/runs/run.ts";
import { unsealJobSecrets } from "../../jobs/secrets.ts";
import { isOver, type JobStage } from "../../jobs/stages.ts";
import { DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";
import { mayReceive } from "../watchers.ts";
import { type ClaimedDelivery, deliveryBody } from "./delivery.ts";

type JobStep =
  /** The row is checked again after this many seconds, or when the run ends. */
  | { step: "postponed"; seconds: number }
  | { step: "dropped" }
  | {
      step: "over";
      outcome: "delivered" | "rejected" | "unreachable";
      reason: string | null;
      startedAt: Date;
      durationMs: number;
      jobRunId: string | null;
    };

/** The end of a run wakes its delivery (`wakeDelivery`). The delay is for the case that a worker could not wake it. */
const LOOK_AGAIN: JobStep = { step: "postponed", seconds: 30 };
/** A run that ends before its delivery is postponed wakes nothing, so the row is soon checked again. */
const LOOK_SOON: JobStep = { step: "postponed", seconds: 5 };

/** A unique index allows only one run for each try of a delivery, so this can be repeated. */
export async function deliverToJob(delivery: ClaimedDelivery): Promise<JobStep> {
  const recorded = await db().delivery.findUnique({ where: { id: delivery.id }, select: { attempts: true } });
  // The delivery was dropped with its day's partition.
  if (!recorded) return { step: "dropped" };
  const deliveryTry = recorded.attempts + 1;
  const run = await db().jobRun.findUnique({
    where: { deliveryId_deliveryTry: { deliveryId: delivery.id, deliveryTry } },
    select: { id: true, stage: true, exitCode: true, message: true, createdAt: true, startedAt: true, finishedAt: true },
  });
  if (!run) return startRun(delivery, deliveryTry);
  if (!isOver(run.stage as JobStage)) return LOOK_AGAIN;
  const startedAt = run.startedAt ?? run.createdAt;
  const durationMs = Math.max(0, (run.finishedAt ?? startedAt).getTime() - startedAt.getTime());
  return { step: "over", ...outcomeOf(run), startedAt, durationMs, jobRunId: run.id };
}

type Ended = { stage: string; exitCode: number | null; message: string | null };

/** A failure of the runner is retried. A failure of the job is not. */
function outcomeOf({ stage, exitCode, message }: Ended): {
  outcome: "delivered" | "rejected" | "unreachable";
  reason: string | null;
} {
  if (stage === "COMPLETED") return { outcome: "delivered", reason: null };
  if (stage === "CANCELED") return { outcome: "rejected", reason: "the job was cancelled" };
  const reason = message === null ? "no reason was recorded" : clause(message);
  return exitCode === null
    ? { outcome: "unreachable", reason: `the job could not be run: ${reason}` }
    : { outcome: "rejected", reason };
}

const clause = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");

async function startRun({ id, webhookId, ownerId, event }: ClaimedDelivery, deliveryTry: number): Promise<JobStep> {
  // Everything is read at one moment, because the webhook may have changed since the claim.
  const [kept] = event ? await readJob(webhookId, event.id) : [];
  if (kept && !kept.mayReceive) return LOOK_AGAIN;
  const spec = storedSpecSchema.safeParse(kept?.job);
  if (!kept || !event || !spec.success) {
    return neverRun("the webhook's job cannot be read: select it again");
  }
  let secrets: Record<string, string>;
  try {
    const secret: Record<string, string> = kept.secret ? { WEBHOOK_SECRET: unseal("webhook secret", kept.secret) } : {};
    secrets = { ...unsealJobSecrets(kept.jobSecrets), ...secret };
  } catch {
    return neverRun("the secrets of the webhook or its job can no longer be read: set them again");
  }
  // The owner has as many open runs as allowed, so the delivery waits (S122).
  if (!(await hasRoom(db(), ownerId))) return LOOK_AGAIN;
  try {
    await createRun(db(), {
      owner: { kind: kept.ownerKind, id: ownerId },
      createdById: kept.createdById,
      delegationId: kept.delegationId,
      initiator: { type: "webhook", id: webhookId },
      spec: spec.data,
      secrets,
      payload: deliveryBody(event.payload, webhookId),
      webhookId,
      deliveryId: id,
      deliveryTry,
    });
  } catch (error) {
    // P2002 means that another worker was first.
    if ((error as { code?: unknown }).code !== "P2002") throw error;
  }
  return LOOK_SOON;
}

type KeptJob = {
  ownerKind: "user" | "organization";
  job: unknown;
  jobSecrets: Uint8Array | null;
  secret: Uint8Array | null;
  createdById: string | null;
  delegationId: string | null;
  mayReceive: boolean;
};

const readJob = (webhookId: string, eventId: string): Promise<KeptJob[]> => db().$queryRaw`
  SELECT w.owner_kind AS "ownerKind", w.job, w.job_secrets AS "jobSecrets", w.secret, w.created_by_id AS "createdById",
    w.delegation_id AS "delegationId", ${mayReceive()} AS "mayReceive"
  FROM webhook w JOIN event e ON e.id = ${eventId} LEFT JOIN repo r ON r.id = e.repo_id WHERE w.id = ${webhookId}`;

const neverRun = (reason: string): JobStep => ({
  step: "over",
  outcome: "rejected",
  reason,
  startedAt: new Date(),
  durationMs: 0,
  jobRunId: null,
});

export async function wakeDelivery(deliveryId: string): Promise<void> {
  await pool().query(
    `with woken as (
       update delivery_queue set due_at = now(), lane = least(lane, $2) where id = $1 and due_at > now() and due_at < 'infinity' returning id
     )
     select pg_notify($3, '') from woken`,
    [deliveryId, lanes.first, DELIVERY_CHANNEL],
  );
}
