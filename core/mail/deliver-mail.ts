import { log } from "../log.ts";
import { isRefusal } from "./is-refusal.ts";
import type { QueuedMail } from "./mail-table.ts";
import { recordFailure, recordSent } from "./record-mail.ts";
import { sendMail } from "./send-mail.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds until each further attempt: long enough to survive an outage of the mail server, over by the time links have expired anyway. */
const RETRY_SECONDS = [15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/**
 * Sends one claimed letter and records the result: sent, due again later, or given up. Delivery is at least once: if a worker
 * dies between the two, the letter is sent again, under the same Message-ID.
 */
export async function deliverMail(mail: QueuedMail, claimId: string): Promise<void> {
  try {
    await sendMail(mail);
  } catch (error) {
    const retrySeconds = isRefusal(error) ? undefined : RETRY_SECONDS[mail.attempts - 1];
    const message = error instanceof Error ? error.message : String(error);
    await recordFailure(mail.id, claimId, { message, retrySeconds });
    const line = { mailId: mail.id, attempts: mail.attempts, reason: message };
    if (retrySeconds === undefined) log().error(line, "a letter could not be sent and is given up");
    else log().warn({ ...line, retrySeconds }, "a letter could not be sent; trying again later");
    return;
  }
  await recordSent(mail.id, claimId);
}
