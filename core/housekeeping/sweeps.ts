import { env } from "../env.ts";

/** Security does not depend on these deletions, because expired rows are rejected wherever they are read. */
export type Sweep = { table: string; isOver: string | (() => string) };

// Anybody can make this service fetch a metadata document, so the number of unused documents is limited (S79).
const UNUSED_DOCUMENT = "not exists (select 1 from oauth_consent c where c.client_id = oauth_client_document.client_id)";
const OLDER_UNUSED_DOCUMENTS = `select client_id from oauth_client_document where ${UNUSED_DOCUMENT} order by last_seen_at desc offset 10000`;

/** For each user, the output of this many stopped Spaces stays (S137). */
const SPACES_WITH_LOGS = 200;

const keptDays = () => env().WEBHOOK_KEEP_DAYS;

/** These rows are deleted every minute, because an account may store a hundred proofs a second (S143). */
export const sweepsOfMinute: readonly Sweep[] = [
  { table: "oauth_artifact", isOver: "expires_at < now() and model = 'ReplayDetection'" },
];

export const sweeps: readonly Sweep[] = [
  // For an hour, a device learns that its code has expired (S62). Used codes stay as long, so that a replay is detected (S43).
  { table: "oauth_artifact", isOver: "expires_at < now() - interval '1 hour'" },
  // No device code is valid for this long.
  { table: "oauth_device_poll", isOver: "polled_at < now() - interval '30 minutes'" },
  {
    table: "oauth_grant",
    // A Grant that a delegation uses stays, so that it can be revoked.
    isOver: `(revoked_at < now() - interval '7 days' or expires_at < now() - interval '1 hour'
        or exists (select from oauth_consent c where c.id = oauth_grant.consent_id and c.revoked_at < now() - interval '1 hour'))
      and (bound_org_id is null or revoked_at is not null or not exists (
        select from delegation d where d.token_id = oauth_grant.id and d.ended_at is null))`,
  },
  // For a day, an upload URL may use a delegation to which no row refers.
  {
    table: "delegation",
    isOver: `created_at < now() - interval '2 days' and ${["webhook", "webhook_replay", "job_run", "scheduled_job", "relay"]
      .map((table) => `not exists (select from ${table} x where x.delegation_id = delegation.id)`)
      .join(" and ")}`,
  },
  { table: "oauth_consent", isOver: "revoked_at < now() - interval '30 days'" },
  {
    table: "oauth_app",
    isOver: `registration_token_hash is not null and updated_at < now() - interval '14 days'
      and not exists (select from oauth_consent c where c.client_id = oauth_app.client_id)`,
  },
  {
    table: "oauth_client_document",
    isOver: `${UNUSED_DOCUMENT} and (last_seen_at < now() - interval '7 days' or client_id in (${OLDER_UNUSED_DOCUMENTS}))`,
  },
  { table: "oauth_app_secret", isOver: "expires_at < now() - interval '1 day'" },
  { table: "oauth_app_usage", isOver: "day < current_date - 400" },
  { table: "oauth_app_active_user", isOver: "day < current_date - 400" },
  { table: "site_session", isOver: "expires_at < now() - interval '1 day' or ended_at < now() - interval '1 day'" },
  { table: "one_time_token", isOver: "expires_at < now() - interval '1 day'" },
  { table: "invitation", isOver: "expires_at < now() - interval '30 days'" },
  {
    table: "personal_access_token",
    // A token that a delegation uses stays, so that it can be revoked.
    isOver: `revoked_at < now() - interval '30 days' or (expires_at < now() - interval '90 days'
      and not exists (select from delegation d where d.token_id = personal_access_token.id and d.ended_at is null))`,
  },
  {
    table: "organization_revoked_token",
    isOver: `created_at < now() - interval '2 days' and ${[
      "personal_access_token where id",
      "oauth_grant where id",
      "delegation where token_id",
    ]
      .map((row) => `not exists (select from ${row} = organization_revoked_token.token_id)`)
      .join(" and ")}`,
  },
  // For a day, a job can still learn why its token is invalid.
  { table: "ci_token", isOver: "expires_at < now() - interval '1 day'" },
  // Deliveries take their body from the event. An event that was not fanned out stays (S122).
  {
    table: "event",
    isOver: () =>
      `created_at < now() - interval '${keptDays() + 2} days' and fanned_out_at < now() - interval '${keptDays() + 2} days'`,
  },
  {
    table: "delivery_queue",
    isOver: () => `id < lpad(to_hex(extract(epoch from now() - interval '${keptDays() + 1} days')::bigint), 8, '0')`,
  },
  { table: "webhook_replay", isOver: () => `finished_at < now() - interval '${keptDays()} days'` },
  { table: "webhook_hour", isOver: "hour < now() - interval '90 days'" },
  // An ID begins with a time, so the rows of the last days are not read.
  {
    table: "job_run",
    isOver: `id < lpad(to_hex(extract(epoch from now() - interval '30 days')::bigint), 8, '0')
      and finished_at < now() - interval '30 days'`,
  },
  // No quota counts the output of Spaces, so old output is deleted.
  {
    table: "space_log",
    isOver: `repo_id in (select repo_id from (select repo_id, row_number() over (
        partition by coalesce(started_by_id, owner_id) order by updated_at desc) as rank
      from space_runtime where claim_id is null) ranked where rank > ${SPACES_WITH_LOGS})`,
  },
  { table: "throttle", isOver: "reset_at < now()" },
  { table: "oauth_logout_notice", isOver: "sent_at < now() - interval '1 day' or failed_at < now() - interval '30 days'" },
  // A trigger returns the reserved amount to the meter.
  { table: "inference_reservation", isOver: "expires_at < now()" },
  { table: "inference_usage", isOver: "day < current_date - 400" },
  { table: "inference_meter", isOver: "month < current_date - 400" },
  { table: "process_heartbeat", isOver: "seen_at < now() - interval '1 day'" },
  { table: "mail", isOver: "sent_at < now() - interval '7 days' or failed_at < now() - interval '30 days'" },
];
