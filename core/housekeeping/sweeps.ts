import { env } from "../env.ts";

/** What is deleted, and when. Security does not depend on these deletions: expired rows are rejected wherever they are read. */
export type Sweep = { table: string; isOver: string | (() => string) };

// Anybody can have us fetch a metadata document; one without a consent is kept for a while, and their number is limited (S79).
const UNUSED_DOCUMENT = "not exists (select 1 from oauth_consent c where c.client_id = oauth_client_document.client_id)";
const OLDER_UNUSED_DOCUMENTS = `select client_id from oauth_client_document where ${UNUSED_DOCUMENT} order by last_seen_at desc offset 10000`;

/** How many Spaces that a user started keep their output while they do not run (S137). */
const SPACES_WITH_LOGS = 200;

const keptDays = () => env().WEBHOOK_KEEP_DAYS;

/** Every minute: an account may store a hundred proofs a second, and an expired one is useless (S143). */
export const sweepsOfMinute: readonly Sweep[] = [
  { table: "oauth_artifact", isOver: "expires_at < now() and model = 'ReplayDetection'" },
];

/** Every hour. */
export const sweeps: readonly Sweep[] = [
  // An expired device code stays for an hour, so that its device is told what happened (S62). Used codes stay until they expire, since their
  // replay must be detected (S43).
  { table: "oauth_artifact", isOver: "expires_at < now() - interval '1 hour'" },
  // Longer than a device code lives.
  { table: "oauth_device_poll", isOver: "polled_at < now() - interval '30 minutes'" },
  {
    table: "oauth_grant",
    // One row for each sign-in and each exchange, so there may be many. A Grant expires with the last of its tokens. One that a delegation
    // still uses stays, so that it can be revoked. A revoked one has no valid tokens left, so no replay needs to be detected.
    isOver: `(revoked_at < now() - interval '7 days' or expires_at < now() - interval '1 hour'
        or exists (select from oauth_consent c where c.id = oauth_grant.consent_id and c.revoked_at < now() - interval '1 hour'))
      and (bound_org_id is null or revoked_at is not null or not exists (
        select from delegation d where d.token_id = oauth_grant.id and d.ended_at is null))`,
  },
  // Delegations that no webhook, replay, run, schedule or relay uses anymore (core/access/delegation.ts reuses only young rows). Upload
  // URLs use them for a day without a record (core/hub/lfs/transfer/uploader.ts).
  {
    table: "delegation",
    isOver: `created_at < now() - interval '2 days' and ${["webhook", "webhook_replay", "job_run", "scheduled_job", "relay"]
      .map((table) => `not exists (select from ${table} x where x.delegation_id = delegation.id)`)
      .join(" and ")}`,
  },
  { table: "oauth_consent", isOver: "revoked_at < now() - interval '30 days'" },
  // Self-registered apps without a consent (core/oauth/registration/register-app.ts).
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
    // A token still in use stays, so that it can be revoked.
    isOver: `revoked_at < now() - interval '30 days' or (expires_at < now() - interval '90 days'
      and not exists (select from delegation d where d.token_id = personal_access_token.id and d.ended_at is null))`,
  },
  // Revocations of tokens that no longer exist and that no delegation uses.
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
  // For a day after its token has expired, a job can still learn why it is invalid.
  { table: "ci_token", isOver: "expires_at < now() - interval '1 day'" },
  // Events recorded and fanned out long ago (core/events). An external event sent again after its deletion counts as new. Deliveries take
  // their body from the event, and are deleted by whole days, so the event must outlive them. An event that was not fanned out stays,
  // however long no worker ran (S122).
  {
    table: "event",
    isOver: () =>
      `created_at < now() - interval '${keptDays() + 2} days' and fanned_out_at < now() - interval '${keptDays() + 2} days'`,
  },
  // Queue entries of deliveries that were deleted with the partition of their day (core/webhooks/keep-partitions.ts): those of a disabled
  // webhook.
  {
    table: "delivery_queue",
    isOver: () => `id < lpad(to_hex(extract(epoch from now() - interval '${keptDays() + 1} days')::bigint), 8, '0')`,
  },
  // Kept as long as their deliveries.
  { table: "webhook_replay", isOver: () => `finished_at < now() - interval '${keptDays()} days'` },
  { table: "webhook_hour", isOver: "hour < now() - interval '90 days'" },
  // A run is deleted with its log. An id begins with its time, so the rows of the last days are not read.
  {
    table: "job_run",
    isOver: `id < lpad(to_hex(extract(epoch from now() - interval '30 days')::bigint), 8, '0')
      and finished_at < now() - interval '30 days'`,
  },
  // A user may have any number of Spaces, and each keeps 256 KiB of output that no quota counts. The number of running ones is limited by
  // slots.
  {
    table: "space_log",
    isOver: `repo_id in (select repo_id from (select repo_id, row_number() over (
        partition by coalesce(started_by_id, owner_id) order by updated_at desc) as rank
      from space_runtime where claim_id is null) ranked where rank > ${SPACES_WITH_LOGS})`,
  },
  { table: "throttle", isOver: "reset_at < now()" },
  { table: "oauth_logout_notice", isOver: "sent_at < now() - interval '1 day' or failed_at < now() - interval '30 days'" },
  // When such a row is deleted, a trigger returns to the meter the amount that a killed process had reserved.
  { table: "inference_reservation", isOver: "expires_at < now()" },
  { table: "inference_usage", isOver: "day < current_date - 400" },
  { table: "inference_meter", isOver: "month < current_date - 400" },
  { table: "process_heartbeat", isOver: "seen_at < now() - interval '1 day'" },
  { table: "mail", isOver: "sent_at < now() - interval '7 days' or failed_at < now() - interval '30 days'" },
];
