import { exchangeBurstEmail } from "#core/accounts/emails/app-emails.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { type Db, db } from "#core/db.ts";
import { mailAdministrators } from "../apps/mail-administrators.ts";

const BURST_MINUTES = 10;
/** This many refusals mean that somebody is trying addresses, or that a program is broken. */
export const BURST_REFUSALS = 20;
/** Also required: `BURST_TIMES_USUAL` times the app's usual number of exchanges. */
export const BURST_EXCHANGES = 300;
const BURST_TIMES_USUAL = 10;
/** An app causes at most one alert in this time, because nobody reads alerts that come every minute. */
const QUIET_HOURS = 24;
const APPS_MAX = 50;

type Burst = { orgId: string; clientId: string; appId: string; name: string; issued: number; refused: number };

const FIND = `SELECT e.org_id AS "orgId", e.client_id AS "clientId", a.id AS "appId", a.name, e.issued, e.refused
  FROM (SELECT org_id, client_id, count(*) FILTER (WHERE type = 'oauth_token.exchange')::int AS issued,
      count(*) FILTER (WHERE type = 'oauth_token.exchange_refused')::int AS refused
    FROM audit_event WHERE created_at > now() - make_interval(mins => $1)
      AND type IN ('oauth_token.exchange', 'oauth_token.exchange_refused') AND org_id IS NOT NULL
    GROUP BY org_id, client_id) e
  JOIN oauth_app a ON a.client_id = e.client_id
  LEFT JOIN throttle t ON t.key = 'exchange-burst:' || a.id
  CROSS JOIN LATERAL (SELECT coalesce(sum(tokens), 0) * $1 / (7 * 24 * 60.0) AS usual FROM oauth_app_usage s
    WHERE s.client_id = e.client_id AND s.day < current_date AND s.day >= current_date - 7) s
  WHERE (e.refused >= $2 OR (e.issued >= $3 AND e.issued >= s.usual * $4)) AND (t.reset_at IS NULL OR t.reset_at <= now())
  LIMIT $5`;

/** See S96. The app is not blocked: the burst may be a nightly job. */
export async function alertOnBursts(): Promise<Burst[]> {
  const limits = [BURST_MINUTES, BURST_REFUSALS, BURST_EXCHANGES, BURST_TIMES_USUAL, APPS_MAX];
  const bursts = await db().$queryRawUnsafe<Burst[]>(FIND, ...limits);
  const sent: Burst[] = [];
  for (const burst of bursts) {
    const isOurs = await db().$transaction((tx) => sendAlert(tx, burst));
    if (isOurs) sent.push(burst);
  }
  return sent;
}

async function sendAlert(tx: Db, { orgId, clientId, appId, name, issued, refused }: Burst): Promise<boolean> {
  const taken = await tx.$executeRaw`
    INSERT INTO throttle AS t (key, count, reset_at)
      VALUES (${`exchange-burst:${appId}`}, 1, now() + make_interval(hours => ${QUIET_HOURS}::int))
    ON CONFLICT (key) DO UPDATE SET count = 1, reset_at = excluded.reset_at WHERE t.reset_at <= now()`;
  if (taken === 0) return false;
  await recordAuditEvent(tx, {
    type: "oauth_token.exchange_burst",
    orgId,
    clientId,
    data: { name, issued, refused, minutes: BURST_MINUTES },
  });
  await mailAdministrators(tx, orgId, (organization) =>
    exchangeBurstEmail({ appId, name, issued, refused, minutes: BURST_MINUTES }, organization),
  );
  return true;
}
