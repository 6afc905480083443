import { log } from "../../log.ts";
import { sendRequest } from "../../outbound/send-request.ts";
import { relayTargetOf } from "../../relay/relay.ts";
import { attemptsSeen } from "../../telemetry.ts";
import { decide } from "./decide.ts";
import { deliverToJob } from "./deliver-to-job.ts";
import { deliverToRelay } from "./deliver-to-relay.ts";
import { type Attempt, type ClaimedDelivery, deliveryBody, RESPONSE_BODY_MAX_BYTES, type Step } from "./delivery.ts";
import { deliveryHeaders, type SignedHeaders } from "./delivery-headers.ts";

/** One deadline covers DNS, connect, TLS, headers and body (S120). */
const DEADLINE_MS = 15_000;

export async function sendDelivery(delivery: ClaimedDelivery): Promise<Step> {
  const { webhook, event, mayRead } = delivery;
  if (!webhook || !event) return { step: "dropped" };
  // Owners test the target before they enable the webhook, so tests are sent.
  if (webhook.isDisabled && !event.isTest) return { step: "postponed", seconds: "held" };
  if (!mayRead) return attempted(delivery, withheld());
  if (webhook.url !== null) return attempted(delivery, await post(delivery, webhook.url, event.payload));

  const job = await deliverToJob(delivery);
  if (job.step !== "over") return job;
  const { outcome, reason, startedAt, durationMs, jobRunId } = job;
  return attempted(delivery, {
    ...nothingSent(startedAt),
    outcome,
    reason,
    totalMs: durationMs,
    jobRunId,
    isFinal: outcome === "rejected" || event.isTest,
  });
}

const attempted = (delivery: ClaimedDelivery, attempt: Attempt): Step => ({
  step: "attempted",
  attempt,
  decision: decide(delivery, attempt),
});

const nothingSent = (startedAt: Date) => ({
  startedAt,
  reason: null,
  url: null,
  signature: null,
  totalMs: 0,
  answer: null,
  jobRunId: null,
  isStale: false,
  isKept: false,
  isFinal: false,
});

const withheld = (): Attempt => ({
  ...nothingSent(new Date()),
  outcome: "withheld",
  reason: "the webhook's owner, or the app or token that created or last changed it, can no longer read the repository",
});

async function post(delivery: ClaimedDelivery, url: string, payload: string): Promise<Attempt> {
  const startedAt = new Date();
  const begin = performance.now();
  const body = deliveryBody(payload, delivery.webhookId);
  // The sender of a test sees the outcome and can send another test, so a test is not retried.
  const isFinal = delivery.event?.isTest === true;
  const signed = signedHeaders(delivery, body, startedAt);
  if (!signed) return { ...nothingSent(startedAt), outcome: "blocked", reason: SECRET_LOST, isFinal };
  const { headers, signature } = signed;
  const relay = relayTargetOf(url);
  if (relay) {
    const result = await deliverToRelay(delivery, relay, { headers, body });
    return { ...nothingSent(startedAt), url, signature, isFinal, ...result };
  }
  const result = await sendRequest({
    url,
    method: "POST",
    headers,
    body,
    deadlineMs: DEADLINE_MS,
    maxBodyBytes: RESPONSE_BODY_MAX_BYTES,
    onExcess: "cut",
    isConnectionKept: true,
  });
  const sent = { ...nothingSent(startedAt), url, signature, isFinal, totalMs: Math.round(performance.now() - begin) };
  if (result.outcome !== "answered") {
    const isStale = result.outcome === "unreachable" && result.isStale === true;
    return { ...sent, outcome: result.outcome, reason: result.reason, isStale };
  }
  const { status, headers: answered, body: kept, isCut, isReused, timings } = result;
  return {
    ...sent,
    outcome: status >= 200 && status < 300 ? "delivered" : "rejected",
    totalMs: timings.totalMs,
    answer: { status, headers: answered, body: kept, isCut, isReused, timings },
  };
}

const SECRET_LOST = "the webhook's secret can no longer be read: set a new one";

/** Nothing is sent without the signature that the receiver expects. */
function signedHeaders(delivery: ClaimedDelivery, body: string, startedAt: Date): SignedHeaders | undefined {
  try {
    return deliveryHeaders(delivery, body, startedAt);
  } catch (error) {
    log().error(
      { err: error, webhookId: delivery.webhookId },
      "a webhook's secret cannot be read: is SECRET_KEY the key that encrypted it?",
    );
    return undefined;
  }
}

export function publishAttempt({ id, webhookId, kind, event, webhook }: ClaimedDelivery, attempt: Attempt): void {
  if (!attemptsSeen.hasSubscribers) return;
  const { outcome, answer, startedAt, totalMs } = attempt;
  attemptsSeen.publish({
    deliveryId: id,
    webhookId,
    eventId: event?.id ?? "",
    kind,
    outcome,
    status: answer?.status ?? null,
    isJob: webhook?.url === null,
    startedAt,
    milliseconds: totalMs,
    timings: answer?.timings ?? null,
    traceparent: event?.traceparent ?? null,
  });
}
