import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import { db, pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { isLoopbackHost } from "../clients/client-identity.ts";
import { currentProvider } from "../provider.ts";
import { issueLogoutToken } from "../provider-internals.ts";
import type { QueuedLogoutNotice } from "./queue-logout-notices.ts";

const MINUTE = 60;
const RETRY_SECONDS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE];
/** No retry begins after this time, even if the first attempt was late. */
const GIVEN_UP_SECONDS = 45 * MINUTE;
const DEADLINE_MS = 10_000;
const MAX_BODY_BYTES = 1024;

type Outcome = { isDelivered: true } | { isDelivered: false; reason: string; isFinal: boolean };

/** Delivers at least once (S109), and a second notice does no harm. */
export async function deliverLogoutNotice(notice: QueuedLogoutNotice, claimId: string): Promise<void> {
  const outcome = await postNotice(notice);
  if (outcome.isDelivered) return recordDelivered(notice, claimId);
  const { reason, isFinal } = outcome;
  const retrySeconds = isFinal ? undefined : secondsToRetry(notice);
  const line = { noticeId: notice.id, clientId: notice.client_id, attempts: notice.attempts, reason };
  if (retrySeconds === undefined) {
    await recordGivenUp(notice, claimId, reason);
    log().warn(line, "an app could not be notified of a logout; gave up");
  } else {
    await recordRetry(notice, claimId, reason, retrySeconds);
    log().info({ ...line, retrySeconds }, "an app could not be notified of a logout; trying again later");
  }
}

function secondsToRetry({ attempts, created_at }: QueuedLogoutNotice): number | undefined {
  const ageSeconds = (Date.now() - created_at.getTime()) / 1000;
  const seconds = RETRY_SECONDS[attempts - 1];
  return seconds !== undefined && ageSeconds + seconds <= GIVEN_UP_SECONDS ? seconds : undefined;
}

async function postNotice(notice: QueuedLogoutNotice): Promise<Outcome> {
  const provider = await currentProvider();
  const client = await provider.Client.find(notice.client_id);
  const url = client?.backchannelLogoutUri;
  if (!client || !url) return { isDelivered: false, reason: "the app no longer has a sign-out URL", isFinal: true };
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
  if (result.outcome !== "answered") return { isDelivered: false, reason: result.reason, isFinal: result.outcome === "blocked" };
  const { status } = result;
  if (status >= 200 && status < 300) return { isDelivered: true };
  return { isDelivered: false, reason: `the app responded with status ${status}`, isFinal: !isTemporary(status) };
}

/** A refusal or a redirect is final (Back-Channel Logout §2.8). */
const isTemporary = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;

async function recordDelivered({ id }: QueuedLogoutNotice, claimId: string): Promise<void> {
  await pool().query(
    `update oauth_logout_notice set sent_at = now(), claim_id = null, claimed_until = null, last_error = null
     where id = $1 and claim_id = $2`,
    [id, claimId],
  );
}

async function recordRetry({ id }: QueuedLogoutNotice, claimId: string, reason: string, seconds: number): Promise<void> {
  await pool().query(
    `update oauth_logout_notice
     set claim_id = null, claimed_until = null, last_error = $3, due_at = now() + make_interval(secs => $4)
     where id = $1 and claim_id = $2`,
    [id, claimId, reason, seconds],
  );
}

/** The entry tells the owner that the app still considers the user signed in (S109). */
async function recordGivenUp(notice: QueuedLogoutNotice, claimId: string, reason: string): Promise<void> {
  await db().$transaction(async (tx) => {
    const { count } = await tx.oAuthLogoutNotice.updateMany({
      where: { id: notice.id, claimId },
      data: { failedAt: new Date(), claimId: null, claimedUntil: null, lastError: reason },
    });
    if (count === 0) return;
    await recordAboutSomebody(tx, {
      type: "oauth_logout_notice.fail",
      clientId: notice.client_id,
      subjectId: notice.user_id,
      data: { reason, attempts: notice.attempts },
    });
  });
}
