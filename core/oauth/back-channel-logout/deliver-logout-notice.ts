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
/** Seconds until each further attempt: a logout is worth something within the hour. */
const RETRY_SECONDS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE];
const DEADLINE_MS = 10_000;
/** What waits for its turn is looked at again after one to two of these. */
const POSTPONED_SECONDS = 2;
/** Nothing is read of what the app answers but its status. */
const MAX_BODY_BYTES = 1024;

/** `isFinal`: another attempt would end the same. */
type Outcome = { isTold: true } | { isTold: false; reason: string; isFinal: boolean };

/**
 * Tells one client of one logout and records how it went: told, due again later, or given up (S109). At least once: an app that is
 * told twice has nothing to end the second time.
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
  // A token lives for two minutes, and each attempt has one of its own.
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

/** A busy or broken server may take it later; a refusal or a redirect stays one (Back-Channel Logout §2.8). */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;
