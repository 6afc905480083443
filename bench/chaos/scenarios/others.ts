import { setTimeout as delay } from "node:timers/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { newToken } from "#core/crypto/token.ts";
import { db, pool } from "#core/db.ts";
import { recordEvent } from "#core/events/record-event.ts";
import { newId } from "#core/ids.ts";
import { deliveryBody } from "#core/webhooks/delivery/delivery.ts";
import { rotateWebhookSecret } from "#core/webhooks/manage/rotate-webhook-secret.ts";
import { readReplay, startReplay } from "#core/webhooks/replay/start-replay.ts";
import { makeWebhook, pushPayload } from "../load.ts";
import { ask, claimedNow, type Outcome, settle, tally } from "../measure.ts";
import { type Scenario, startTarget, underLoad } from "../scenario.ts";

const REPLAYED = 10_000;

export const replay: Scenario = {
  name: "replay of 10,000, worker killed half-way",
  async run(service): Promise<Outcome> {
    const { repoId, webhookId, receiver } = await startTarget(service);
    const eventIds = await insertFailed(service.ownerId, repoId, webhookId);
    const { id } = await startReplay(operatorCommand, webhookId, { since: new Date(Date.now() - 3_600_000) }, noOrigin);
    const startedAt = Date.now();
    while (receiver.arrivals.length < REPLAYED / 2 && Date.now() < startedAt + 40_000) await delay(5);
    process.kill(service.running.pidOf("worker/index.ts"), "SIGKILL");
    const inFlight = await claimedNow(service);
    const killedAt = Date.now();
    let state = await readReplay(operatorCommand, webhookId, id);
    for (const deadline = killedAt + 60_000; state.state === "running" && Date.now() < deadline; await delay(200)) {
      state = await readReplay(operatorCommand, webhookId, id);
    }
    const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
    const counts = await tally(service, webhookId, eventIds, receiver);
    receiver.stop();
    return {
      ...counts,
      inFlight,
      recoverySeconds: Math.max(0, firstAfter(receiver.arrivals, killedAt)),
      note: `${seconds} s in all, of which the killed worker's claims waited up to their 20 s; progress says ${state.delivered} delivered of ${state.total}`,
      faults: [
        ...(counts.lost > 0 ? [`${counts.lost} lost`] : []),
        ...(counts.duplicates > inFlight ? ["more duplicates than were in flight"] : []),
        ...(state.state !== "finished" || state.delivered !== REPLAYED
          ? [`the replay is ${state.state} with ${state.delivered}`]
          : []),
      ],
    };
  },
};

/** Skips the first half second, in which requests that were in flight at the kill still arrive. */
function firstAfter(arrivals: readonly { at: number }[], killedAt: number): number {
  const next = arrivals.find(({ at }) => at > killedAt + 500);
  return Math.round(((next?.at ?? killedAt) - killedAt) / 100) / 10;
}

async function insertFailed(ownerId: string, repoId: string, webhookId: string): Promise<Set<string>> {
  const payload = JSON.stringify(pushPayload(repoId, ownerId));
  const ids = Array.from({ length: REPLAYED }, () => newId());
  await pool().query(
    `insert into event (id, scope, action, repo_id, repo_type, owner_id, is_private, payload, fanned_out_at)
      select id, 'repo.content', 'update', $2, 'model', $3, false, $4::json, now() from unnest($1::text[]) id`,
    [ids, repoId, ownerId, payload],
  );
  await pool().query(
    `insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state, attempts, finished_at)
      select lpad(to_hex(extract(epoch from now())::bigint - 60), 8, '0') || substr(md5(id), 1, 16), $2, $3, id, 'event', 'repo.content',
        'update', $4, 'model', 'mara/tides', 'failed', 10, now() from unnest($1::text[]) id`,
    [ids, webhookId, ownerId, repoId],
  );
  return new Set(ids);
}

/** The receiver uses each new secret half a second later, and must refuse no delivery in between. */
export const rotation: Scenario = {
  name: "secret rotated every second",
  run: (service) =>
    underLoad(service, {
      after: 1,
      async strike({ webhookId, receiver }) {
        for (let times = 0; times < 8; times++) {
          const { secret } = await rotateWebhookSecret(operatorCommand, webhookId, noOrigin);
          await delay(500);
          receiver.secret = secret;
          await delay(500);
        }
        return {};
      },
      check: async ({ receiver }) => ({
        note: `${receiver.arrivals.filter(({ isVerified }) => isVerified).length} of ${receiver.arrivals.length} signatures verified by standardwebhooks`,
      }),
    }),
};

export const largePayload: Scenario = {
  name: "payload over the environment limit to a job",
  async run(service): Promise<Outcome> {
    const repoId = newId();
    const webhookId = await makeWebhook(service.ownerId, repoId, "http://127.0.0.1/", newToken(""));
    const script = 'echo "variable $(printf %s "$WEBHOOK_PAYLOAD" | wc -c)"; echo "file $(wc -c < "$WEBHOOK_PAYLOAD_FILE")"';
    const spec = { dockerImage: "debian", command: ["sh", "-c", script], arguments: [], environment: {}, flavor: "cpu-basic" };
    await db().webhook.update({ where: { id: webhookId }, data: { url: null, job: { ...spec, network: false, labels: {} } } });
    const [newSha] = ["b0714518683b3c93840eb60ca2d13c9288eecad0"];
    const updatedRefs = Array.from({ length: 3_000 }, (_, at) => ({ ref: `refs/heads/branch-${at}`, oldSha: null, newSha }));
    const payload = { ...pushPayload(repoId, service.ownerId), updatedRefs } as ReturnType<typeof pushPayload>;
    await db().$transaction((tx) => recordEvent(tx, { payload, actorId: null }));
    await delay(1_000);
    const isSettled = await settle(service, [webhookId], 30);
    const rows = await ask<{ stage: string; message: string | null; text: string | null }>(
      service,
      `select r.stage, r.message, (select string_agg(l.text, '' order by l.seq) from job_log l where l.run_id = r.id) as text
        from job_run r where r.webhook_id = $1`,
      [webhookId],
    );
    const bytes = Buffer.byteLength(deliveryBody(JSON.stringify(payload), webhookId));
    const text = rows[0]?.text ?? "";
    const isWhole = new RegExp(`^file ${bytes}$`, "m").test(text);
    const isLeftOut = /^variable 0$/m.test(text) && /WEBHOOK_PAYLOAD/.test(text);
    const isDone = rows.length === 1 && rows[0]?.stage === "COMPLETED";
    return {
      ...{
        sent: 1,
        delivered: isDone && isWhole ? 1 : 0,
        lost: isDone && isWhole ? 0 : 1,
        duplicates: Math.max(0, rows.length - 1),
      },
      note: `${bytes} bytes; the run ${rows[0]?.stage ?? "was not made"}${rows[0]?.message ? ` (${rows[0].message})` : ""}`,
      faults: [
        ...(isSettled && isDone ? [] : [`the run did not complete: ${text.slice(0, 200)}`]),
        ...(isWhole ? [] : ["the file is not the payload"]),
        ...(isLeftOut ? [] : ["the log does not say that the variable was left out"]),
      ],
    };
  },
};

export const clock: Scenario = {
  name: "clock of the service jumps an hour forward and back",
  run: async (service) => {
    const outcome = await underLoad(service, {
      seconds: 14,
      after: 3,
      async strike() {
        for (const hours of [1, 0, -1, 0]) {
          service.shiftClock(hours * 3_600_000);
          await delay(2_000);
        }
        return {};
      },
    });
    // Receivers refuse signatures of another hour, as they should.
    const faults = outcome.faults.filter((fault) => !fault.includes("signatures"));
    return { ...outcome, faults, note: "signatures carry the wrong hour meanwhile" };
  },
};
