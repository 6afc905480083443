import { requestHeaders } from "../../outbound/request.ts";
import { awaitAnswer, type HandlerAnswer, recordedAnswer, takeEarlierAnswer } from "../../relay/inbox/await-answer.ts";
import { findRelayByToken, type TakenRequest, takeRequest } from "../../relay/inbox/take-request.ts";
import type { RelayTarget } from "../../relay/relay.ts";
import { type Answer, type Attempt, type ClaimedDelivery, RESPONSE_BODY_MAX_BYTES } from "./delivery.ts";

type RelayResult = Pick<Attempt, "outcome" | "reason" | "answer" | "totalMs" | "isKept">;

/** RFC 9110 §15.3.3: the outcome is not known yet. */
const ACCEPTED = 202;

/** Sends no request, so no address rule needs an exception (S117). An answer that comes later becomes another attempt. */
export async function deliverToRelay(
  { id, kind, tries }: ClaimedDelivery,
  { token, path }: RelayTarget,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<RelayResult> {
  const begin = performance.now();
  if (kind === "relay") {
    const recorded = await recordedAnswer(id);
    if (recorded) return resultOf(recorded, recorded.milliseconds);
  }
  const earlier = await takeEarlierAnswer(id);
  if (earlier) return resultOf(earlier, earlier.milliseconds);
  const elapsed = () => Math.round(performance.now() - begin);
  const relay = await findRelayByToken(token);
  if (!relay) return lost("there is no relay at this URL: it has expired or was closed", elapsed());
  const request: TakenRequest = {
    method: "POST",
    path,
    headers: Object.entries(requestHeaders(headers)),
    body: new TextEncoder().encode(body),
    delivery: { id, tries },
  };
  const taken = await takeRequest(relay.id, request);
  if (!taken)
    return lost(
      "the relay's inbox is full, or its owner's inboxes have reached their joint limit: a listener is missing or too slow",
      elapsed(),
    );
  if (!taken.isListening) return kept("stored in the relay's inbox: no listener is connected", elapsed());
  const answer = await awaitAnswer(taken.id);
  return answer ? resultOf(answer, elapsed()) : kept("passed on by the relay: its listener has not responded yet", elapsed());
}

function resultOf(answer: HandlerAnswer, totalMs: number): RelayResult {
  if (answer.kind === "failed") return lost(answer.reason, totalMs);
  const { status, headers, body } = answer;
  const isDelivered = status >= 200 && status < 300;
  return {
    outcome: isDelivered ? "delivered" : "rejected",
    reason: null,
    answer: answered(status, totalMs, headers, body),
    totalMs,
    isKept: false,
  };
}

const lost = (reason: string, totalMs: number): RelayResult => ({
  outcome: "unreachable",
  reason,
  answer: null,
  totalMs,
  isKept: false,
});

const kept = (reason: string, totalMs: number): RelayResult => ({
  outcome: "delivered",
  reason,
  answer: answered(ACCEPTED, totalMs),
  totalMs,
  isKept: true,
});

function answered(
  status: number,
  totalMs: number,
  headers: readonly (readonly [string, string])[] = [],
  body: Uint8Array = new Uint8Array(),
): Answer {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    joined[key] = key in joined ? `${joined[key]}, ${value}` : value;
  }
  return {
    status,
    headers: joined,
    body: body.subarray(0, RESPONSE_BODY_MAX_BYTES),
    isCut: body.length > RESPONSE_BODY_MAX_BYTES,
    isReused: false,
    timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: totalMs, totalMs },
  };
}
