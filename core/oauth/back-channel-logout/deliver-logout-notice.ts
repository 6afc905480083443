import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { isLoopbackHost } from "../client-identity.ts";
import { currentProvider } from "../provider.ts";
import { issueLogoutToken } from "../provider-internals.ts";
import type { QueuedLogoutNotice } from "./logout-notice-table.ts";
import { recordGivenUp, recordPostponed, recordRetry, recordTold } from "./record-logout-notice.ts";
import { takeTurn } from "./take-turn.ts";

const MINUTE = 60;
/** Seconds before each retry: a logout notice is useful only within the hour. */
const RETRY_SECONDS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE];
const DEADLINE_MS = 10_000;
/** A postponed notice is tried again after one to two times this. */
const POSTPONED_SECONDS = 2;
/** Of the app's response, only the status is read. */
const MAX_BODY_BYTES = 1024;

/** `isFinal`: another attempt would have the same result. */
type Outcome = { isTold: true } | { isTold: false; reason: string; isFinal: boolean };

/**
 * Notifies one client of one logout and records the outcome: delivered, due again later, or given up (S109). Delivery is at least once: an
 * app that is notified twice has nothing left to end.
 */
export async function deliverLogoutNotice(notice: QueuedLogoutNotice, claimId: string): Promise<void> {
  const endTurn = takeTurn(notice);
  if (!endTurn) return recordPostponed(notice, claimId, POSTPONED_SECONDS);
  const outcome = await tell(notice).finally(endTurn);
  if (outcome.isTold) return recordTold(notice, claimId);
  const { reason, isFinal } = outcome;
  const retrySeconds = isFinal ? undefined : RETRY_SECONDS[notice.attempts - 1];
  const line = { noticeId: notice.id, clientId: notice.client_id, attempts: notice.attempts, reason };
  if (retrySeconds === undefined) {
    await recordGivenUp(notice, claimId, reason);
    log().warn(line, "an app could not be told of a logout; it is given up");
  } else {
    await recordRetry(notice, claimId, reason, retrySeconds);
    log().info({ ...line, retrySeconds }, "an app could not be told of a logout; trying again later");
  }
}

async function tell(notice: QueuedLogoutNotice): Promise<Outcome> {
  const provider = await currentProvider();
  const client = await provider.Client.find(notice.client_id);
  const url = client?.backchannelLogoutUri;
  if (!client || !url) return { isTold: false, reason: "the app no longer says where it is told", isFinal: true };
  // A token lives for two minutes, and each attempt gets its own.
  const token = await issueLogoutToken(provider, client, { userId: notice.user_id, sid: notice.sid });
  const result = await sendRequest({
    url,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ logout_token: token }).toString(),
    deadlineMs: DEADLINE_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    onExcess: "cut",
    isHttpsRequired: !isLoopbackHost(new URL(env().ORIGIN).hostname),
  });
  if (result.outcome !== "answered") return { isTold: false, reason: result.reason, isFinal: result.outcome === "blocked" };
  const { status } = result;
  if (status >= 200 && status < 300) return { isTold: true };
  return { isTold: false, reason: `the app answered ${status}`, isFinal: !isPassing(status) };
}

/** A busy or broken server may accept it later; a refusal or a redirect is final (Back-Channel Logout §2.8). */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;
