import { pool } from "../db.ts";

/** Clears the text as soon as it is not needed: it may contain a working link (S55). */
export async function recordSent(id: string, claimId: string): Promise<void> {
  await pool().query(
    `update mail set sent_at = now(), text = '', claim_id = null, claimed_until = null, last_error = null
     where id = $1 and claim_id = $2`,
    [id, claimId],
  );
}

/** @param retrySeconds until the next attempt; undefined if there is none. */
export async function recordFailure(
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
