import { pool } from "../db.ts";
import { env } from "../env.ts";
import { log } from "../log.ts";
import { sealMail } from "./kept-mail.ts";
import type { QueuedMail } from "./mail-table.ts";
import { sendMail } from "./send-mail.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** All attempts take 22 hours, which is longer than most outages and shorter than a sign-up link is valid. */
const RETRY_SECONDS = [15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/** An email is sent at least once, always with the same Message-ID. */
export async function deliverMail(mail: QueuedMail, claimId: string): Promise<void> {
  const { SMTP_URL } = env();
  if (!SMTP_URL) {
    await recordSent(mail.id, claimId, sealMail(mail.text));
    log().info(
      { to: mail.recipient, subject: mail.subject },
      "an e-mail was kept, since SMTP_URL is not set: read it with `admin mail list`",
    );
    return;
  }
  try {
    await sendMail(mail, SMTP_URL);
  } catch (error) {
    const retrySeconds = isRefusal(error) ? undefined : RETRY_SECONDS[mail.attempts - 1];
    const message = error instanceof Error ? error.message : String(error);
    await recordFailure(mail.id, claimId, { message, retrySeconds });
    const line = { mailId: mail.id, attempts: mail.attempts, reason: message };
    if (retrySeconds === undefined) log().error(line, "an e-mail could not be sent and was abandoned");
    else log().warn({ ...line, retrySeconds }, "an e-mail could not be sent; trying again later");
    return;
  }
  await recordSent(mail.id, claimId);
}

/**
 * The text is deleted, because it may contain a working link (S55).
 * @param kept replaces the text
 */
async function recordSent(id: string, claimId: string, kept = ""): Promise<void> {
  await pool().query(
    `update mail set sent_at = now(), text = $3, claim_id = null, claimed_until = null, last_error = null
     where id = $1 and claim_id = $2`,
    [id, claimId, kept],
  );
}

async function recordFailure(
  id: string,
  claimId: string,
  { message, retrySeconds }: { message: string; retrySeconds: number | undefined },
): Promise<void> {
  const hasNext = retrySeconds !== undefined;
  await pool().query(
    `update mail
     set claim_id = null, claimed_until = null, last_error = $3,
         due_at = case when $4 then now() + make_interval(secs => $5) else due_at end,
         failed_at = case when $4 then null else now() end,
         text = case when $4 then text else '' end
     where id = $1 and claim_id = $2`,
    [id, claimId, message.slice(0, 500), hasNext, retrySeconds ?? 0],
  );
}

/** A refusal is a 5xx reply (RFC 5321 §4.2.1) about the email itself. */
function isRefusal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === "number" && responseCode >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");
}
